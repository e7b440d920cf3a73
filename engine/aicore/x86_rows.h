#include "vector_rows.h"
