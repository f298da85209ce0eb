import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { ProgramProblem } from '../errors.ts'
import type { Json } from '../text/json.ts'
import { linearPattern } from '../text/linear-pattern.ts'
import { memoizeLast } from '../text/memoize-last.ts'
import { safeOneLine } from '../text/redact.ts'
import type { SchemaAnswer } from './schema-limits.ts'

/** Errors told of one value. */
const MAX_ERRORS = 5

/** Values whose every error is collected; a larger one stops at its first, since errors take far more room than data. */
const ALL_ERRORS_UP_TO = 10_000

type JsonObject = { readonly [key: string]: Json }

/**
 * Checks a value under a JSON Schema (draft 2020-12, strict about unknown keywords; `format` is an annotation, as the
 * draft says). Costs what the schema asks for: callers outside an Isolate only compile. Throws when the schema is bad.
 */
export function validateBySchema(schema: JsonObject, value: Json): SchemaAnswer {
  const compiled = countUpTo(value, ALL_ERRORS_UP_TO) < ALL_ERRORS_UP_TO ? allErrors : firstError
  const validate = compiled(JSON.stringify(schema))
  if (validate(value) === true) return { valid: true, errors: [] }
  return { valid: false, errors: (validate.errors ?? []).slice(0, MAX_ERRORS).map(sentence) }
}

/** Why a schema (already inside its budget, see schema-limits.ts) does not compile; undefined when it does. */
export function schemaCompileProblem(schema: JsonObject): string | undefined {
  try {
    firstError(JSON.stringify(schema))
    return undefined
  } catch (cause) {
    return cause instanceof Error ? safeOneLine(cause.message) : 'the schema cannot be compiled'
  }
}

/** One block asks the same at every attempt and item. */
const firstError = memoizeLast(16, (text) => compile(JSON.parse(text), false))

const allErrors = memoizeLast(16, (text) => compile(JSON.parse(text), true))

function compile(schema: JsonObject, all: boolean): ValidateFunction {
  const ajv = ajvFor(all)
  // Without its $id, which could name (and on removal drop) the meta-schema; references are local anyway.
  const { $id: _, ...body } = schema
  if (ajv.validateSchema(body) !== true) {
    const problems = new Set((ajv.errors ?? []).map(sentence))
    throw new ProgramProblem(`the schema is not valid draft 2020-12: ${[...problems].slice(0, 2).join('; ')}`)
  }
  try {
    return ajv.compile(body)
  } finally {
    // ajv keeps every schema it ever saw.
    ajv.removeSchema(body)
  }
}

const INSTANCES = new Map<boolean, Ajv2020>()

function ajvFor(all: boolean): Ajv2020 {
  const known = INSTANCES.get(all)
  if (known !== undefined) return known
  const fresh = new Ajv2020({
    allErrors: all,
    // Unknown keywords and ignored ones are errors; missing `type` beside `properties` is ordinary JSON Schema.
    strictSchema: true,
    strictNumbers: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    inlineRefs: false,
    // Else `required: [toString]` would hold for every object.
    ownProperties: true,
    addUsedSchema: false,
    logger: false,
    code: { regExp: linearRegExp },
  })
  INSTANCES.set(all, fresh)
  return fresh
}

/** ajv keeps patterns by their toString(): without one of their own all would become the first, and wrong data pass. */
function linearRegExp(pattern: string, flags: string) {
  const read = linearPattern(pattern, flags)
  if (!read.ok) throw new ProgramProblem(`pattern "${pattern.slice(0, 80)}": ${read.message}`)
  return { test: read.pattern.test, toString: () => `linear:${flags}:${pattern}` }
}

function sentence(error: ErrorObject): string {
  const { instancePath, keyword, message = 'is not valid', params } = error
  const detail = keyword === 'enum' || keyword === 'const' ? JSON.stringify(Object.values(params)[0]) : undefined
  const extra = params.additionalProperty ?? params.unevaluatedProperty ?? detail
  const path = safeOneLine(instancePath === '' ? '/' : instancePath, 80)
  return `${path} ${safeOneLine(message, 100)}${extra === undefined ? '' : ` (${safeOneLine(String(extra), 60)})`}`
}

/** Counts the members of a value without recursion, no further than `limit`. */
function countUpTo(value: Json, limit: number): number {
  const open: Json[] = [value]
  let count = 0
  for (let next = open.pop(); next !== undefined && count < limit; next = open.pop()) {
    count += 1
    if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) open.push(member)
  }
  return count
}

// Only for code that ajv writes to a file, which we never ask for; the type wants it.
linearRegExp.code = 'linearRegExp'
