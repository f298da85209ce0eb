import { openDatabase } from '../../infra/local/database.ts'
import { openGraphStore } from '../../infra/local/graph-store/graph-store.ts'
import { openLocalIndex } from '../../infra/local/search-index.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { World } from '../../shared/world.ts'

interface MemoryGraph extends Pick<World, 'graph' | 'search' | 'indexing'> {
  close(): void
}

/** Graph and search index of one seed, in memory: the same for both stores of runs, and made when somebody asks. */
export function createMemoryGraph(clock: Pick<Clock, 'now'>, objects: World['objects']): MemoryGraph {
  let opened: MemoryGraph | undefined
  const graph = () => {
    opened ??= open(clock, objects)
    return opened
  }
  return {
    get graph() {
      return graph().graph
    },
    get search() {
      return graph().search
    },
    get indexing() {
      return graph().indexing
    },
    close: () => opened?.close(),
  }
}

function open(clock: Pick<Clock, 'now'>, objects: World['objects']): MemoryGraph {
  const db = openDatabase(':memory:')
  const graph = openGraphStore(db, clock)
  const { index: search, indexing, close } = openLocalIndex(':memory:', { graph, objects, clock, links: true })
  return {
    graph,
    search,
    indexing,
    close() {
      close()
      db.close()
    },
  }
}
