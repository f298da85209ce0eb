import { Fault } from '../errors.ts'
import type { Machine } from './asl.ts'
import { decompose } from './decompose.ts'
import type { CompiledBlock } from './emit-block.ts'
import { emitMachine } from './emit-machine.ts'
import { type NamedJoin, nameSteps } from './name-steps.ts'
import { reduceTransitively, type Upstream } from './reduce.ts'

/** A DAG as a state machine. */
export interface CompiledDag {
  readonly definition: Machine
  /** The definition as JSON, functions as placeholders like `${RunBlock}`: same document, same bytes. */
  readonly text: string
  /** The waits the structure could not express; `sources` are ids of the blocks that must have ended. */
  readonly joins: readonly NamedJoin[]
  readonly figures: { readonly blocks: number; readonly joins: number; readonly parallels: number }
}

/** The part of a Dag the compiler looks at: nothing else a user wrote can enter a machine. */
export interface CompilableDag {
  readonly blocks: readonly CompiledBlock[]
}

/**
 * Compiles a checked DAG of any size to Amazon States Language (JSONata only): every block starts exactly when its own
 * upstream blocks have ended, at about one state transition a block. Source: design compile.
 */
export function compileDag({ blocks }: CompilableDag): CompiledDag {
  const steps = decompose(reduceTransitively(upstreamIndexes(blocks)))
  const { sequence, joins, parallels } = nameSteps(steps, blocks, '_settle')
  const definition = emitMachine(sequence, signalsOf(joins))
  return {
    definition,
    text: JSON.stringify(definition),
    joins,
    figures: { blocks: blocks.length, joins: joins.length, parallels },
  }
}

function upstreamIndexes(blocks: readonly CompiledBlock[]): Upstream {
  const indexOf = new Map(blocks.map(({ id }, index) => [id, index]))
  return blocks.map(({ id, upstream }) =>
    upstream.map((source) => {
      const index = indexOf.get(source)
      if (index === undefined) {
        throw new Fault('Bug', 'compile_unknown_block', `Cannot compile block "${id}": there is no block "${source}".`)
      }
      return index
    }),
  )
}

function signalsOf(joins: readonly NamedJoin[]): ReadonlyMap<string, readonly string[]> {
  const signals = new Map<string, string[]>()
  for (const { id, sources } of joins) {
    for (const source of sources) signals.set(source, [...(signals.get(source) ?? []), id])
  }
  return signals
}
