import type { Machine } from '../compile/asl.ts'
import type { CompiledDag } from '../compile/compile-dag.ts'

/** One machine of a compiled DAG. */
export interface CompiledMachine {
  /** `main`, or the placeholder of a part, `Part1`. */
  readonly name: string
  readonly definition: Machine
  readonly text: string
}

/** The main machine, then those it was split into for size. */
export function compiledMachines({ definition, text, parts }: CompiledDag): readonly CompiledMachine[] {
  return [
    { name: 'main', definition, text },
    ...parts.map((part) => ({ name: part.key, definition: part.definition, text: part.text })),
  ]
}

/** As the simulation takes them. */
export function machinesToSimulate({ definition, parts }: CompiledDag): Machines {
  return { main: definition, parts: new Map(parts.map((part) => [part.key, part.definition])) }
}

/** A DAG's machine and those it was split into for size, by placeholder (`Part1`). */
export interface Machines {
  readonly main: Machine
  readonly parts: ReadonlyMap<string, Machine>
}
