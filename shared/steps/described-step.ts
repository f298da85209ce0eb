import { MAIN_TENANT } from '../auth/principal.ts'
import type { PortType, StepPin } from '../dag/dag.ts'
import { isStepPath } from '../dag/handlers.ts'
import { sha256 } from '../text/hash.ts'
import type { Json } from '../text/json.ts'

/** A port of a step as its module, or the settings, have it. */
export interface StepPort {
  readonly type: PortType
  readonly required: boolean
  readonly description?: string
}

export type StepPorts = Readonly<Record<string, StepPort>>

/** What a place knows of a step before it runs. */
export interface DescribedStep extends StepPin {
  /** Absent: whatever the document says (a program whose settings name none). */
  readonly inputs?: StepPorts
  readonly outputs?: StepPorts
  /** JSON Schema of the block's `config`; absent: anything. */
  readonly config?: Json
  /** Of a module: its inputs as JSON Schema, and what it says it is for. A model that may call it is told both. */
  readonly input_schema?: Json
  readonly description?: string
}

/** Steps by the name a document gives them, or in words why there is none. */
export type KnownSteps = Readonly<Record<string, DescribedStep | UnknownStep>>

/** Why there is none, and what to do about it. */
export interface UnknownStep {
  readonly problem: string
  readonly hint?: string
}

/** Whether it is a module that is bundled; every other one is a program of the settings. */
export function isModulePath(handler: string): boolean {
  return isStepPath(handler) && /\.(?:ts|js|mjs)$/.test(handler)
}

/** The part of its function's name that comes from a step's: `./steps/parse.ts` is `steps-parse-ts-` and six digits of its hash. */
export function stepSlug(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return `${words.join('-').slice(0, 24).replace(/-+$/, '')}-${sha256(name).slice(0, 6)}`
}

/** The name of the function that runs a step for a tenant on AWS: 64 characters at the most. That of main is the step's alone. */
export function stepFunction(stage: string, slug: string, tenant = MAIN_TENANT): string {
  const own = `sluice-${stage}-step-${slug}`
  return tenant === MAIN_TENANT ? own : `${own}-${sha256(tenant).slice(0, 6)}`
}

type Schema = Readonly<Record<string, unknown>>

/** The ports of a JSON Schema of an object: each property one. What is no plain type is json. */
export function portsOfSchema(given: unknown): StepPorts {
  const { properties = {}, required = [] } = asSchema(given)
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.fromEntries(
    Object.entries(asSchema(properties)).map(([name, schema]) => {
      const { description } = asSchema(schema)
      const told = typeof description === 'string' ? { description } : {}
      return [name, { type: typeOfSchema(asSchema(schema)), required: needed.has(name), ...told }]
    }),
  )
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {}
}

const PLAIN: Readonly<Record<string, PortType>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
}

/** `port` is what `file()` of the package writes. */
function typeOfSchema({ type, port }: Schema): PortType {
  if (port === 'file' || port === 'artifact') return port
  return typeof type === 'string' && Object.hasOwn(PLAIN, type) ? (PLAIN[type] ?? 'json') : 'json'
}

/** Whether a value of one type may go where the other is wanted, as far as types tell. */
export function typesAgree(one: PortType, other: PortType): boolean {
  const isRef = (type: PortType) => type === 'file' || type === 'artifact'
  return one === other || one === 'json' || other === 'json' || (isRef(one) && isRef(other))
}
