import type { operations } from '../../api/schema.generated.ts'
import { readTyped, typedText } from '../parts/value-text.ts'

export type Checked = operations['validate-dag']['responses'][200]['content']['application/json']
export type StartBody = operations['start-run']['requestBody']['content']['application/json']

/** An input a run needs, as a form shows it. */
interface InputField {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string | undefined
  /** The text of its default: what holds while the field is empty. */
  readonly fallback: string | undefined
}

/** The inputs a valid document declares or reads; of one that is of no declared type, a text is taken. */
export function inputFields({ context_inputs }: Pick<Checked, 'context_inputs'>): readonly InputField[] {
  return context_inputs.map(({ name, required, type, description, default: given }) => {
    const declared = typeof type === 'string' ? type : 'string'
    return {
      name,
      type: declared,
      isRequired: required && given === undefined,
      description: typeof description === 'string' ? description : undefined,
      fallback: given === undefined ? undefined : typedText(declared, given),
    }
  })
}

interface ReadInputs {
  readonly inputs: Readonly<Record<string, unknown>>
  /** Names of fields that hold nothing and must, or hold what is not of their type. */
  readonly missing: readonly string[]
  readonly wrong: readonly string[]
}

/** Empty fields are left out: then the default holds. */
export function readInputs(fields: readonly InputField[], texts: Readonly<Record<string, string>>): ReadInputs {
  const read = fields.map((field) => ({ field, typed: readTyped(field.type, texts[field.name] ?? '') }))
  return {
    inputs: Object.fromEntries(
      read.flatMap(({ field, typed }) => ('value' in typed ? [[field.name, typed.value]] : [])),
    ),
    missing: read
      .filter(({ field, typed }) => field.isRequired && !('value' in typed) && !('problem' in typed))
      .map(({ field }) => field.name),
    wrong: read.filter(({ typed }) => 'problem' in typed).map(({ field }) => field.name),
  }
}

interface Source {
  /** What the editor holds. */
  readonly text: string
  /** The deployed document it was read from, if it was. */
  readonly name: string | undefined
  readonly deployed: string | undefined
}

/** A document that was not touched is started by its name alone, so that its deployed machine is used. */
export function startBody({ text, name, deployed }: Source, inputs: ReadInputs['inputs']): StartBody {
  const named = name === undefined ? {} : { name }
  const source = name !== undefined && text === deployed ? { name } : { dag: text, ...named }
  return { ...source, ...(Object.keys(inputs).length === 0 ? {} : { inputs: { ...inputs } }) }
}

/** The same key for the same request, another one for another: a second click starts no second run. */
export function idempotencyKeys(random: () => string): (body: unknown) => string {
  const keys = new Map<string, string>()
  return (body) => {
    const text = JSON.stringify(body)
    const key = keys.get(text) ?? random()
    keys.set(text, key)
    return key
  }
}

/** 128 bits; randomUUID is only there on pages of https and of this machine. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Where a line of a text begins and ends, to show it: lines count from 1. */
export function lineRange(text: string, line: number): readonly [from: number, to: number] {
  const lines = text.split('\n')
  const at = Math.min(Math.max(line, 1), lines.length) - 1
  const from = lines.slice(0, at).reduce((sum, one) => sum + one.length + 1, 0)
  return [from, from + (lines[at]?.length ?? 0)]
}
