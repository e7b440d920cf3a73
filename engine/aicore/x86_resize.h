#include "vector_resize.h"
