// kernels/math.h - elementary and special functions for tile kernels.
#pragma once

#include "kernels/math_arc.h"
#include "kernels/math_erf.h"
#include "kernels/math_exp.h"
#include "kernels/math_gamma.h"
#include "kernels/math_log.h"
#include "kernels/math_power.h"
#include "kernels/math_trig.h"
