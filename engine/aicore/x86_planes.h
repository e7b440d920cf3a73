#include "vector_planes.h"
