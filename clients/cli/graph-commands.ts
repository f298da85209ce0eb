import type { Command } from 'commander'
import { addGraphDelete } from './graph-delete.ts'
import { addGraphImport } from './graph-import.ts'
import { addGraphNeighbors } from './graph-neighbors.ts'
import { addGraphSearch } from './graph-search.ts'
import { addGraphShow } from './graph-show.ts'
import type { Session } from './session.ts'

/** The knowledge graph of a server. A document of one of these names is drawn as `graph ./import`. */
export function addGraphCommands(graph: Command, session: Session): void {
  for (const add of [addGraphImport, addGraphSearch, addGraphShow, addGraphNeighbors, addGraphDelete])
    add(graph, session)
}
