import type * as z from 'zod'
import type { PortType } from '../dag/dag.ts'
import type { ContractHeadSchema } from '../goals/goal-contract.ts'
import type { Step } from '../steps/step-definition.ts'
import type { Json } from '../text/json.ts'
import type { SECTIONS } from './sections.ts'

/**
 * A document in TypeScript (docs/dag.md, "In TypeScript"). It makes the same plain object that the YAML of a document is
 * read into, so what is judged, stored and hashed is the same. The compiler knows what a block has and of which type.
 */
export interface DagDocument {
  readonly name: string
  readonly blocks: readonly Readonly<Record<string, Json>>[]
  readonly [key: string]: Json | undefined
}

type Section<Name extends keyof typeof SECTIONS> = z.input<(typeof SECTIONS)[Name]>

/** A port as a document declares it: its type, or with more about it. */
type Declared<Type extends PortType = PortType, More = unknown> =
  | Type
  | ({ readonly type: Type; readonly required?: boolean; readonly description?: string } & More)
type TypeOf<Port> = Port extends { readonly type: infer Type extends PortType } ? Type : Port & PortType

type RunInputs = Readonly<Record<string, Declared<PortType, { readonly default?: Json; readonly search?: boolean }>>>
type Outputs = Readonly<Record<string, Declared<PortType, { readonly search?: boolean }>>>

/** What an output of a block is to the blocks after it. */
export interface Wire<Type extends PortType = PortType> {
  readonly from: string
  /** For the compiler alone: never there. */
  readonly carries?: Type
}

/** A run input: an input of a block reads it by its name. */
export interface RunInputPort<Name extends string = string, Type extends PortType = PortType> {
  readonly type: Type
  readonly from?: never
  /** For the compiler alone: never there. */
  readonly named?: Name
}

/** Files and artifacts are both object refs. */
type Fitting<Type extends PortType> = Type extends 'file' | 'artifact' ? 'file' | 'artifact' : Type
type WiredAs<Type extends PortType> = {
  readonly [One in Type]: {
    readonly from: Wire<Fitting<One>>
    readonly type: One
    readonly required?: boolean
    readonly default?: Json
    readonly description?: string
  }
}[Type]

/** An input of the name `Name`. */
type Input<Name extends string> =
  | Wire
  | WiredAs<PortType>
  | RunInputPort<Name>
  | Declared<PortType, { readonly default?: Json; readonly from?: never; readonly named?: never }>
type Inputs<Given> = { readonly [Name in keyof Given]: Input<Name & string> }

type Gate = Omit<Section<'gate'>, 'check'> & { readonly check: { readonly type: string; readonly [key: string]: Json } }

/** Everything of a block but its ports and its work (docs/dag.md, "Block"). */
export interface BlockRest {
  readonly name?: string
  readonly when?: Json
  readonly depends?: Json
  readonly foreach?: Omit<Section<'foreach'>, 'items' | 'as' | 'item_gates'> & {
    readonly items: string | readonly Json[]
    readonly as?: string
    readonly item_gates?: readonly Gate[]
  }
  readonly cache?: Section<'cache'>
  readonly budget?: Section<'block_budget'>
  readonly pre_gates?: readonly Gate[]
  readonly post_gates?: readonly Gate[]
  readonly gate_composition?: Json
  readonly on_gate_fail?: readonly Json[]
  readonly approval?: Section<'approval'>
  readonly retry?: Section<'retry'>
  readonly timeout_ms?: number
  readonly strict_output?: boolean
  readonly contract_repair_attempts?: number
  readonly metadata?: Json
  readonly description?: string
  readonly tags?: Json
  readonly labels?: Json
}

/** A block's work: the section of its mode. */
type Work =
  | { readonly mode?: 'ai'; readonly agent: Section<'agent'> }
  | { readonly mode: 'deterministic'; readonly deterministic: Section<'deterministic'> }
  | { readonly mode: 'approval'; readonly approval: Section<'approval'> }
  | { readonly mode: 'dag'; readonly dag: Section<'child'> }
  | { readonly mode: 'research'; readonly research: Section<'research'> }
  | { readonly mode: 'wait'; readonly wait: Section<'wait'> }

type Ports<Out extends Outputs> = { readonly [Name in keyof Out]: Wire<TypeOf<Out[Name]>> }

/** The port type of a value that a step takes or gives. */
type PortOf<Value> = [Value] extends [string]
  ? 'string'
  : [Value] extends [number]
    ? 'number'
    : [Value] extends [boolean]
      ? 'boolean'
      : 'json'
type Taking<Value> = [NonNullable<Value>] extends [string] ? 'string' | 'file' | 'artifact' : PortOf<NonNullable<Value>>
type StepInputs<Values> = {
  readonly [Name in keyof Values]: Wire<Taking<Values[Name]>> | RunInputPort<Name & string, Taking<Values[Name]>>
}
type StepPorts<Values> = { readonly [Name in keyof Values]-?: Wire<PortOf<NonNullable<Values[Name]>>> }

/** What `defineDag` gives to the function that describes the blocks. */
export interface DagBuilder<Given extends RunInputs> {
  /** The run inputs, for inputs of the same name. */
  readonly inputs: { readonly [Name in keyof Given]: RunInputPort<Name & string, TypeOf<Given[Name]>> }
  /** Adds a block; answers its outputs, for inputs of the blocks after it. */
  block<const Out extends Outputs, In extends Inputs<In>>(
    id: string,
    block: BlockRest & Work & { readonly inputs?: In; readonly outputs?: Out },
  ): Ports<Out>
  /**
   * Adds a block whose work is a step: `dag.step<typeof changes>('list', './steps/changes.ts', { inputs: { text } })` with
   * `import type changes from '../steps/changes.ts'`. Its ports are those of the step's schemas.
   */
  step<Of extends Step>(
    id: string,
    path: `./${string}`,
    block: BlockRest & {
      readonly inputs: StepInputs<NonNullable<Of['ports']>['takes']>
      readonly config?: Json
    },
  ): StepPorts<NonNullable<Of['ports']>['gives']>
}

/** Everything of a document but its blocks (docs/dag.md, "Document"). */
export interface DagHead<Given extends RunInputs> {
  readonly name: string
  readonly version?: string
  readonly description?: string
  readonly inputs?: Given
  readonly budget?: Section<'budget'>
  readonly completion?: Section<'completion'>
  readonly concurrency?: Section<'concurrency'>
  readonly subject?: string | readonly string[]
  readonly goal_contract?: z.input<typeof ContractHeadSchema> & { readonly acceptance_criteria: readonly Json[] }
  readonly metadata?: Json
  readonly tags?: Json
  readonly labels?: Json
}

/** A document: its head, and a function that adds its blocks in order. */
export function defineDag<const Given extends RunInputs = Record<never, never>>(
  head: DagHead<Given>,
  describe: (dag: DagBuilder<Given>) => void,
): DagDocument {
  const blocks: Readonly<Record<string, Json>>[] = []
  const add = (id: string, { inputs, ...block }: Readonly<Record<string, unknown>>) => {
    const told = inputs === undefined ? {} : { inputs: flatInputs(inputs as Readonly<Record<string, object | string>>) }
    blocks.push(plain({ id, ...told, ...block }))
    return portsOf(id)
  }
  const inputs = Object.fromEntries(
    Object.entries(head.inputs ?? {}).map(([name, port]) => [
      name,
      { type: typeof port === 'string' ? port : port.type },
    ]),
  )
  // The names and types are for the compiler: what is there are texts like `draft.text`.
  describe({
    inputs,
    block: add,
    step: (id: string, handler: string, { config, ...rest }: { readonly config?: Json }) =>
      add(id, {
        mode: 'deterministic',
        ...rest,
        deterministic: { handler, ...(config !== undefined && { config }) },
      }),
  } as unknown as DagBuilder<Given>)
  const { name, ...rest } = head
  return { name, ...plain(rest), blocks }
}

/** `{ from: draft.text, type }` holds a wire where the document has a text. */
function flatInputs(inputs: Readonly<Record<string, object | string>>): Readonly<Record<string, unknown>> {
  const flat = (port: object | string) =>
    typeof port === 'object' && 'from' in port && typeof port.from === 'object' ? { ...port, ...port.from } : port
  return Object.fromEntries(Object.entries(inputs).map(([name, port]) => [name, flat(port)]))
}

/** As JSON has it: what is undefined is not there. */
function plain(value: object): Readonly<Record<string, Json>> {
  return JSON.parse(JSON.stringify(value)) as Readonly<Record<string, Json>>
}

/** Every name is an output until the document is judged: a step's are known to the compiler alone. */
function portsOf(id: string): Readonly<Record<string, Wire>> {
  return new Proxy<Record<string, Wire>>({}, { get: (_, name) => ({ from: `${id}.${String(name)}` }) })
}
