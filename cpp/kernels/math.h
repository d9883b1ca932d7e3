// kernels/math.h - elementary and special functions for tile kernels.
#pragma once

#include "kernels/math_exp.h"
#include "kernels/math_log.h"
#include "kernels/math_special.h"
#include "kernels/math_trigonometric.h"
