import type { Upstream } from '../machines/random-dags.ts'

/** The parts used of LangGraph's graph: its own types are not there when this is type-checked on a fresh clone. */
export interface LangGraph {
  addNode(name: string, run: () => unknown): void
  addEdge(from: string | readonly string[], to: string): void
  compile(options: object): { invoke(input: object, options: object): Promise<unknown> }
}

/** What a block does. */
export type Work = (block: number) => Promise<unknown>

/** A graph of the blocks `b0`, `b1` and so on, not compiled yet. The state keeps nothing. */
export async function buildLangGraph(upstream: Upstream, work?: Work): Promise<LangGraph> {
  const { StateGraph, Annotation } = await load<LangGraphModule>('@langchain/langgraph')
  const State = Annotation.Root({ last: Annotation({ reducer: (_a: unknown, b: unknown) => b, default: () => '' }) })
  const graph: LangGraph = new StateGraph(State)
  upstream.forEach((_, v) => {
    graph.addNode(`b${v}`, work === undefined ? () => ({}) : () => work(v).then(() => ({})))
  })
  upstream.forEach((sources, v) => {
    const [only] = sources
    if (only === undefined) graph.addEdge('__start__', `b${v}`)
    else graph.addEdge(sources.length === 1 ? `b${only}` : sources.map((p) => `b${p}`), `b${v}`)
  })
  return graph
}

interface LangGraphModule {
  readonly StateGraph: new (state: unknown) => LangGraph
  readonly Annotation: ((channel: object) => unknown) & { Root(channels: object): unknown }
}

/** test/bench/package.json has it; it is absent until `npm ci --prefix test/bench`, so no static import. */
async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T
}
