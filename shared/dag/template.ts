import { canonicalJson, type Json } from '../text/json.ts'

/** One `{{ inputs.x.y }}` of a text. `path` is [port, ...members]; a text that only resembles one is `malformed`. */
export type TemplateReference =
  | { readonly kind: 'input'; readonly path: readonly [string, ...string[]] }
  | { readonly kind: 'malformed'; readonly text: string }

type RenderedTemplate =
  | { readonly ok: true; readonly text: string }
  /** Paths without a value, in order of first use: `port` or `port.member`. */
  | { readonly ok: false; readonly missing: readonly string[] }

/**
 * Substitutes `{{ inputs.x }}` and `{{ inputs.x.y }}` in one pass: strings verbatim, other values as canonical JSON.
 * Only own properties are read, nothing is evaluated, a substituted value is never looked at again, and every other
 * `{{ .. }}` stays as it is. A missing value is an answer of its own, never empty text. `encode` is done to each value's
 * text, and not to what stands around it.
 */
export function renderTemplate(
  text: string,
  values: Readonly<Record<string, Json>>,
  encode: (value: string) => string = (value) => value,
): RenderedTemplate {
  const missing = new Set<string>()
  const rendered = replaceReferences(text, (path) => {
    const value = valueAt(values, path)
    if (value === undefined) missing.add(path.join('.'))
    return value === undefined ? '' : encode(typeof value === 'string' ? value : canonicalJson(value))
  })
  return missing.size === 0 ? { ok: true, text: rendered } : { ok: false, missing: [...missing] }
}

/** The text with something else in place of each reference to an input; every other `{{ .. }}` stays as it is. */
export function replaceReferences(text: string, put: (path: readonly [string, ...string[]]) => string): string {
  // A function, since a replacement string would expand `$&` of a value.
  return text.replace(BRACES, (whole, inside: string) => {
    const path = inputPath(inside)
    return path === undefined ? whole : put(path)
  })
}

/** The value a text that is one placeholder stands for, itself and not as text; undefined = it has none, or is no such text. */
export function placeholderValue(text: string, values: Readonly<Record<string, Json>>): Json | undefined {
  const [, inside] = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(text) ?? []
  const path = inside === undefined ? undefined : inputPath(inside)
  return path === undefined ? undefined : valueAt(values, path)
}

/**
 * Every reference of a text, in order. Text in double braces that is no path (`{{#each}}`, `{{ a + b }}`) is ordinary
 * text; a path from another root (`{{ goal }}`) or a broken one (`{{inputs.}}`) is malformed: its author meant one.
 */
export function templateReferences(text: string): readonly TemplateReference[] {
  const references: TemplateReference[] = []
  for (const [whole, inside = ''] of text.matchAll(BRACES)) {
    const path = inputPath(inside)
    if (path !== undefined) references.push({ kind: 'input', path })
    else if (LOOKS_MEANT.test(inside.trim())) references.push({ kind: 'malformed', text: whole })
  }
  return references
}

/** Linear: no brace inside, so every attempt ends at the next brace. */
const BRACES = /\{\{([^{}]*)\}\}/g
const PATH = /^inputs\.([A-Za-z][A-Za-z0-9_-]{0,63}(?:\.[A-Za-z0-9_-]+)*)$/
const LOOKS_MEANT = /^(?:inputs\b|[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$)/

function inputPath(inside: string): [string, ...string[]] | undefined {
  const [port, ...members] = PATH.exec(inside.trim())?.[1]?.split('.') ?? []
  return port === undefined ? undefined : [port, ...members]
}

function valueAt(values: Readonly<Record<string, Json>>, path: readonly string[]): Json | undefined {
  let value: Json | undefined = values
  for (const key of path) {
    // Strings have own properties too (`length`, `0`): only members of objects and arrays are values.
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Array.isArray(value) ? itemOf(value, key) : (value as Readonly<Record<string, Json>>)[key]
  }
  return value
}

function itemOf(items: readonly Json[], key: string): Json | undefined {
  return /^\d+$/.test(key) ? items[Number(key)] : undefined
}
