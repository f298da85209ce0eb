import type { Block, Dag } from '../dag/dag.ts'

/** Where an output of a `mode: dag` block comes from: the first of `sources` whose block completed with that output. */
export interface ChildOutput {
  readonly port: string
  readonly required: boolean
  /** As dag.outputs says it: `block.output`. */
  readonly named?: string
  readonly sources: readonly { readonly block: string; readonly output: string }[]
}

/** A port dag.outputs names comes from there; any other from the like-named output of a last block, in document order. */
export function childOutputs(
  { outputs, dag }: Pick<Extract<Block, { mode: 'dag' }>, 'outputs' | 'dag'>,
  child: Pick<Dag, 'blocks'>,
): readonly ChildOutput[] {
  const inner = new Set(child.blocks.flatMap(({ upstream }) => upstream))
  return Object.entries(outputs).map(([port, { required }]) => {
    const named = Object.hasOwn(dag.outputs, port) ? dag.outputs[port] : undefined
    const [id, output = port] = named?.split('.') ?? []
    const sources = child.blocks
      .filter((block) => (id === undefined ? !inner.has(block.id) : block.id === id))
      .filter((block) => Object.hasOwn(block.outputs, output))
      .map((block) => ({ block: block.id, output }))
    return { port, required, sources, ...(named === undefined ? {} : { named }) }
  })
}
