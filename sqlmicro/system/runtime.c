/* What compiled kernels call of numba's runtime, for machine code that is used without numba: memory for their arrays and
   lists, which counts who refers to it, and two functions of numbers. The layout of MemInfo is that of numba. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef void (*Destructor)(void *data, size_t size, void *info);

typedef struct {
  size_t references;
  Destructor destructor;
  void *info;
  void *data;
  size_t size;
  void *allocator;
} MemInfo;

static MemInfo *begun(MemInfo *memory, void *data, size_t size, Destructor destructor, void *info) {
  if (memory) *memory = (MemInfo){1, destructor, info, data, size, NULL};
  return memory;
}

void *NRT_Allocate(size_t size) { return malloc(size); }

void NRT_Free(void *data) { free(data); }

MemInfo *NRT_MemInfo_alloc_aligned(size_t size, unsigned alignment) {
  if (size > SIZE_MAX - sizeof(MemInfo) - alignment) return NULL;
  MemInfo *memory = malloc(sizeof(MemInfo) + size + alignment);
  uintptr_t after = (uintptr_t)(memory + 1);
  return begun(memory, (void *)((after + alignment - 1) / alignment * alignment), size, NULL, NULL);
}

MemInfo *NRT_MemInfo_alloc(size_t size) { return NRT_MemInfo_alloc_aligned(size, 16); }

static void free_list(void *data, size_t size, void *items) {
  if (items) ((Destructor)items)(data, size, NULL);
  free(data);
}

MemInfo *NRT_MemInfo_new_varsize_dtor(size_t size, Destructor items) {
  void *data = malloc(size);
  MemInfo *memory = data ? begun(malloc(sizeof(MemInfo)), data, size, free_list, (void *)items) : NULL;
  if (!memory) free(data);
  return memory;
}

void *NRT_MemInfo_varsize_realloc(MemInfo *memory, size_t size) {
  void *data = realloc(memory->data, size);
  if (!data) return NULL;
  memory->data = data;
  memory->size = size;
  return data;
}

void NRT_MemInfo_call_dtor(MemInfo *memory) {
  if (memory->destructor) memory->destructor(memory->data, memory->size, memory->info);
  free(memory);
}

/* Of an array that a kernel has returned, and that has been copied. */
void release(MemInfo *memory) {
  if (--memory->references == 0) NRT_MemInfo_call_dtor(memory);
}

double numba_nextafter(double from, double to) { return nextafter(from, to); }

/* Gives an array that lies in one piece, row after row, another shape of as many items; says of others that it cannot. */
int numba_attempt_nocopy_reshape(
    intptr_t axes, const intptr_t *shape, const intptr_t *steps, intptr_t new_axes, const intptr_t *new_shape,
    intptr_t *new_steps, intptr_t item, int by_columns) {
  intptr_t step = item, items = 1, new_items = 1;
  for (intptr_t i = axes; i-- > 0; step *= shape[i], items *= shape[i])
    if (shape[i] > 1 && steps[i] != step) return 0;
  for (intptr_t i = 0; i < new_axes; i++) new_items *= new_shape[i];
  if (items != new_items || by_columns) return 0;
  step = item;
  for (intptr_t i = new_axes; i-- > 0; step *= new_shape[i]) new_steps[i] = step;
  return 1;
}
