import type { Dag } from '../dag/dag.ts'

/**
 * The document a research run is pinned to: it has no blocks, since the chain is a machine of its own. With it every
 * reader of a run (status, list, graph, verify) reads a research run too.
 */
export const RESEARCH_DAG: Dag = { name: 'research', inputs: {}, blocks: [] }
