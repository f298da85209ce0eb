import type { Machine } from '../compile/asl.ts'
import type { CompiledDag } from '../compile/compile-dag.ts'
import type { Machines } from './simulate-machine.ts'

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
export function simulatedMachines({ definition, parts }: CompiledDag): Machines {
  return { main: definition, parts: new Map(parts.map((part) => [part.key, part.definition])) }
}
