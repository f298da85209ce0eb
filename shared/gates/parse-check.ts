import * as z from 'zod'
import type { GateUse } from '../dag/dag.ts'
import { safeOneLine } from '../text/redact.ts'
import { suggest } from '../text/wording.ts'
import { readComposedCheck } from './check-composition.ts'
import { type Program, programProblem } from './compile-programs.ts'
import type { Gate } from './gate.ts'
import { type GateKinds, gateKinds } from './project-gates.ts'

/** `path` is relative to the check, members joined by dots (`values.0`); empty = the check itself. */
interface CheckError {
  readonly path: string
  readonly message: string
  readonly hint?: string
}

type ParsedCheck =
  | { readonly ok: true; readonly check: GateUse['check'] }
  | { readonly ok: false; readonly errors: readonly CheckError[] }

/** Errors told of one check: a list of thousands of bad members says nothing more. */
const MAX_ERRORS = 10

/**
 * Reads a gate's `check` as a document carries it, negated and nested ones too: each type must exist, its parameters must
 * fit exactly, defaults are filled in. An alias keeps its own type name (parameters are checked when the DAG
 * is parsed). Modules of a project are gate types where `kinds` knows them.
 */
export function parseCheck(check: unknown, kinds: GateKinds = BUILT_IN): ParsedCheck {
  const errors: CheckError[] = []
  const parsed = readComposedCheck(check, {
    leaf(given, at) {
      const read = parseLeaf(given, kinds)
      if (read.ok) return read.check
      const path = at.join('.')
      const below = (inner: string) => [path, inner].filter((part) => part !== '').join('.')
      errors.push(...read.errors.map((error) => ({ ...error, path: below(error.path) })))
      return undefined
    },
    refuse({ path, text }) {
      const place = path.length === 0 ? 'The check' : `"${safeOneLine(path.join('.'), 120)}"`
      errors.push({ path: path.join('.'), message: `${place} ${safeOneLine(text, 200)}.` })
    },
  })
  return parsed === undefined ? failed(...errors) : { ok: true, check: parsed }
}

const BUILT_IN = gateKinds()

function parseLeaf(check: unknown, kinds: GateKinds): ParsedCheck {
  if (typeof check !== 'object' || check === null || Array.isArray(check)) {
    return failed({ path: '', message: `A check is a mapping with "type" and its parameters, saw ${nameOf(check)}.` })
  }
  const { type, ...params } = check as Readonly<Record<string, unknown>>
  if (typeof type !== 'string') {
    return failed({ path: 'type', message: `A check needs the "type" of gate as text, saw ${nameOf(type)}.` })
  }
  const gate = kinds.gateOf(type)
  if (gate === undefined) return failed(unknownType(type, kinds))
  const parsed = gate.params.safeParse(params)
  if (!parsed.success) return failed(...parsed.error.issues.flatMap((issue) => errorsOf(issue, gate)))
  const wrong = (gate.programs?.(parsed.data) ?? []).flatMap((program) => programErrors(program, gate))
  return wrong.length > 0 ? failed(...wrong) : { ok: true, check: { ...(parsed.data as GateUse['check']), type } }
}

function programErrors(program: Program, gate: Gate<unknown>): readonly CheckError[] {
  const problem = programProblem(program)
  return problem === undefined ? [] : [parameterError(program.path, problem, gate)]
}

function failed(...errors: readonly CheckError[]): ParsedCheck {
  return { ok: false, errors: errors.slice(0, MAX_ERRORS) }
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

function unknownType(type: string, { gateTypes, refusal }: GateKinds): CheckError {
  const refused = refusal(type)
  if (refused !== undefined) {
    const { text, hint } = refused
    return { path: 'type', message: `Gate type "${safeOneLine(type, 120)}" ${text}.`, ...(hint && { hint }) }
  }
  const near = suggest(type, gateTypes())
  const hint = near === undefined ? `Known types: ${gateTypes().join(', ')}.` : `Did you mean "${near}"?`
  return { path: 'type', message: `Unknown gate type "${safeOneLine(type, 64)}".`, hint }
}

function errorsOf(issue: z.core.$ZodIssue, gate: Gate<unknown>): readonly CheckError[] {
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownParameter(key, gate))
  return [parameterError(path, issue.message, gate)]
}

function parameterError(path: string, message: string, gate: Gate<unknown>): CheckError {
  const where = path === '' ? `Gate type "${gate.type}"` : `Parameter "${path}" of gate type "${gate.type}"`
  return { path, message: `${where}: ${safeOneLine(message, 240)}` }
}

function unknownParameter(key: string, gate: Gate<unknown>): CheckError {
  // Every params schema is a strict object (conformance: the registry test), so its shape has the names.
  const known = keysOf(gate.params)
  const near = suggest(key, known)
  const hint = near === undefined ? `Allowed: ${known.join(', ')}.` : `Did you mean "${near}"?`
  return { path: key, message: `Unknown parameter "${safeOneLine(key, 64)}" of gate type "${gate.type}".`, hint }
}

/** Those of a module's gate stand before what it makes of them. */
function keysOf(params: unknown): readonly string[] {
  if (params instanceof z.ZodPipe) return keysOf(params.in)
  return params instanceof z.ZodObject ? Object.keys(params.shape) : []
}
