import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../../..')
/** Those of every stage; some settings ask for more. */
export const STACKS = ['SluiceData', 'SluiceMachines', 'SluiceOperations', 'SluiceApi'] as const

export interface Resource {
  readonly Type: string
  // The properties of a template are data of any shape; tests look at the parts they name.
  readonly Properties: Readonly<Record<string, unknown>>
  readonly DeletionPolicy?: string
}

export interface Template {
  readonly Resources: Record<string, Resource>
  readonly Parameters?: Readonly<Record<string, unknown>>
  readonly Rules?: Readonly<Record<string, { readonly Assertions: readonly unknown[] }>>
}

/** What a synthesis wrote. */
export interface Assembly {
  /** The folder with templates and assets. */
  readonly out: string
  template(stack: string): Readonly<Record<string, Resource>>
  /** A template with what stands beside its resources. */
  whole(stack: string): Template
  /** Resources of a type in all stacks, with their logical ids. */
  all(type: string): readonly (Resource & { readonly id: string })[]
}

export function readAssembly(out: string): Assembly {
  const whole = (stack: string): Template => JSON.parse(readFileSync(join(out, `${stack}.template.json`), 'utf8'))
  const stacks = stacksIn(out)
  const templates = new Map<string, Record<string, Resource>>(stacks.map((stack) => [stack, whole(stack).Resources]))
  const template = (stack: string) => templates.get(stack) ?? {}
  const all = (type: string) =>
    stacks
      .flatMap((stack) => Object.entries(template(stack)).map(([id, resource]) => ({ ...resource, id })))
      .filter((resource) => resource.Type === type)
  return { out, template, whole, all }
}

/** Names of the stacks a folder holds templates of. */
export function stacksIn(out: string): readonly string[] {
  const files = readdirSync(out).filter((file) => file.endsWith('.template.json'))
  return files.map((file) => file.replace('.template.json', '')).sort()
}

/** A value of a template as text: what CloudFormation would join, with `<name>` for what only AWS knows. */
export function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  const [[kind, of] = ['', undefined]] = Object.entries(value)
  if (kind === 'Ref') return `<${String(of).replace(/^AWS::/, '')}>`
  if (kind === 'Fn::GetAtt') return `<${(of as readonly string[]).join('.')}>`
  if (kind === 'Fn::Join') return (of as readonly [string, readonly unknown[]])[1].map(textOf).join('')
  if (kind === 'Fn::Sub') return String(of).replaceAll(/\$\{(?:AWS::)?(\w+)\}/g, '<$1>')
  throw new Error(`a template value nobody expected: ${JSON.stringify(value)}`)
}
