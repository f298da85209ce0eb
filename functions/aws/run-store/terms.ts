import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/** The names and values of one request's expressions. */
export interface Terms {
  /** Placeholder of an attribute, or of one inside maps: `#0`, `#0.#1`. Every name is aliased: many are reserved words. */
  path(...attributes: readonly string[]): string
  /** Placeholder of a value: `:0`. */
  value(value: AttributeValue): string
  readonly names: Record<string, string>
  /** Placeholders by name. */
  readonly aliases: ReadonlyMap<string, string>
  readonly values: Record<string, AttributeValue>
}

/** `first`: terms of a part that every such request begins with, aliased once; what they name is not copied or changed. */
export function createTerms(first?: Pick<Terms, 'names' | 'aliases'>): Terms {
  const aliases = new Map<string, string>()
  const names: Record<string, string> = { ...first?.names }
  const before = first?.aliases.size ?? 0
  const values: Record<string, AttributeValue> = {}
  let used = 0
  const alias = (name: string): string => {
    const known = first?.aliases.get(name) ?? aliases.get(name)
    if (known !== undefined) return known
    const made = `#${before + aliases.size}`
    aliases.set(name, made)
    names[made] = name
    return made
  }
  return {
    path: (...attributes) => (attributes.length === 1 ? alias(attributes[0] ?? '') : attributes.map(alias).join('.')),
    value: (value) => {
      const made = `:${used}`
      used += 1
      values[made] = value
      return made
    },
    names,
    aliases,
    values,
  }
}
