#include "vector_elementwise.h"
