import type { Mutant } from '../mutant.ts'

export const anyInputsCached: Mutant = {
  name: 'any-inputs-cached',
  what: 'a kept result is found by its definition alone, whatever its inputs were',
  store: (store) => ({
    ...store,
    cached: (tenant, block_hash) => store.cached(tenant, block_hash, ANY),
    async putCached(tenant, block_hash, inputs_hash, result) {
      await store.putCached(tenant, block_hash, inputs_hash, result)
      await store.putCached(tenant, block_hash, ANY, result)
    },
  }),
}

const ANY = 'any'
