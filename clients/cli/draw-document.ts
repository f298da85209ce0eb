import { dagGraph } from '../../shared/plan/dag-graph.ts'
import { type GraphOptions, sayGraph } from './graph-format.ts'
import { readDagFile, refusing } from './read-dag-file.ts'
import type { Session } from './session.ts'

/** `sluice graph FILE`. */
export async function drawDocument(session: Session, file: string, options: GraphOptions): Promise<void> {
  const dag = readDagFile(file, 'draw')
  const graph = refusing(() => dagGraph(dag, () => 1))
  await sayGraph(session, graph, options)
}
