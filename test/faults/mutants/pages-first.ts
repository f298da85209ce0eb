import type { Mutant } from '../mutant.ts'

/** What was spilled between the two reads is in neither: pages came before, HEAD's tail after. */
export const pagesFirst: Mutant = {
  name: 'pages-first',
  what: 'a reader of the log reads the pages first and HEAD then',
  needs_network: true,
  store: (store) => ({
    ...store,
    async events(run, since, limit) {
      const paged = (await store.sealed(run))?.seq ?? 0
      const all = await store.events(run, since, limit)
      const base = (await store.sealed(run))?.seq ?? 0
      return all.filter(({ seq }) => seq <= paged || seq > base)
    },
  }),
}
