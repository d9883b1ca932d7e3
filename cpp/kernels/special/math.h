// kernels/special/math.h - elementary and special functions for tile kernels.
#pragma once

#include "kernels/special/math_arc.h"
#include "kernels/special/math_erf.h"
#include "kernels/special/math_exp.h"
#include "kernels/special/math_gamma.h"
#include "kernels/special/math_log.h"
#include "kernels/special/math_power.h"
#include "kernels/special/math_trig.h"
