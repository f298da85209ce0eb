import type * as z from 'zod'
import type { Json } from '../text/json.ts'

/** What `check` is given: the parameters as the schema reads them, and what the block's ports hold. */
export interface GateCall<Params> {
  readonly params: Params
  /** Of a gate that names the ports it reads, only those. */
  readonly inputs: Readonly<Record<string, Json>>
  /** Empty before the block has run (`pre_gates`). */
  readonly outputs: Readonly<Record<string, Json>>
  /** What a port holds: an output, else an input of that name, else undefined. */
  readonly port: (name: string) => Json | undefined
}

/** A verdict: `reason` is one sentence for people, `evidence` what it rests on (at most 512 bytes of it are kept). */
export interface GateAnswer {
  readonly passed: boolean
  readonly reason: string
  readonly evidence?: Json
}

/** A gate type of a project (docs/gates.md, "A gate of your own"). */
export interface GateDefinition<Schema extends z.ZodObject> {
  /** The parameters of a check, strict: `z.strictObject({ .. })`. */
  readonly params: Schema
  /**
   * The ports it looks at. They must exist on the block, and a port without a value fails before `check` is asked. Without
   * this it is given all inputs and outputs of the block, and looks for itself.
   */
  readonly reads?: (params: z.output<Schema>) => readonly string[]
  /** Pure: no clock, no chance, no network, no files; the same answer for the same call. */
  readonly check: (call: GateCall<z.output<Schema>>) => GateAnswer | Promise<GateAnswer>
}

/** Makes the default export of a module that is a gate: `export default defineGate({ params, check })`. */
export function defineGate<Schema extends z.ZodObject>(
  definition: GateDefinition<Schema>,
): GateDefinition<Schema> & { readonly sluice: 'gate' } {
  return { ...definition, sluice: 'gate' }
}
