import type { Json } from '../canonical.ts'
import type { CheckResult, GateFacts, Held } from './gate.ts'

/** The value of a port: outputs win over inputs of the same name; `undefined` = the port has none. */
export function readPort(facts: Pick<GateFacts, 'inputs' | 'outputs'>, port: string): Json | undefined {
  if (Object.hasOwn(facts.outputs, port)) return facts.outputs[port]
  return Object.hasOwn(facts.inputs, port) ? facts.inputs[port] : undefined
}

/** The value of a port as it was published: of a file or artifact its object ref, of any other what readPort() gives. */
export function readRef(facts: Pick<GateFacts, 'inputs' | 'outputs' | 'refs'>, port: string): Json | undefined {
  const { refs = {} } = facts
  return Object.hasOwn(refs, port) ? refs[port] : readPort(facts, port)
}

/** Why a value can pass no gate, in words; undefined when it may be looked at. */
export function unusable(port: string, value: Json | undefined): string | undefined {
  if (value === undefined) return `missing port ${port}`
  if (value === null) return `missing port ${port}: its value is null`
  if (typeof value === 'number' && !Number.isFinite(value)) return `port ${port} is ${value}, not a finite number`
  return undefined
}

/** What a value is to a port's type; a list or an object is none of it. */
export function heldBy(value: Json): readonly Held[] {
  const held = HELD[typeof value]
  return held === undefined ? [] : [held]
}

const HELD: Readonly<Record<string, Held>> = { string: 'text', number: 'number', boolean: 'boolean' }

/** The answer of a check whose port has a type it does not read. */
export function wrongType(port: string, wanted: string, value: Json | undefined): CheckResult {
  const seen = typeName(value)
  const reason = unusable(port, value) ?? `port ${port} must be ${wanted}, is ${seen}`
  return { passed: false, unfit: true, reason, facts: { port, seen } }
}

function typeName(value: Json | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return TYPE_NAMES[typeof value] ?? typeof value
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
}
