import type { Problem } from '../text/document-problems.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { lineFinder, locate, type Path, pathText, type Source } from '../text/source-position.ts'
import { quoted } from '../text/wording.ts'
import { type ReadDocument, readObject, readYaml } from '../text/yaml.ts'
import { type BoundContract, bindContract } from './bind-contract.ts'
import { contractProblems, contractWithDefaults, criteriaOf, type GoalContract, memberOf } from './goal-contract.ts'

/** One thing wrong with a goal contract. Line and column are 1-based, and absent where it came as an object. */
export interface ContractError {
  readonly code: string
  /** `acceptance_criteria[1].target`; empty for the whole. */
  readonly path: string
  readonly line?: number
  readonly column?: number
  readonly message: string
}

/** A criterion as it was given, with the first thing wrong with it or with the whole contract. */
export interface ReadCriterion {
  readonly value: Json
  readonly problem: string | undefined
}

/** Where a contract stands in the front matter of a notebook or a Markdown file. */
export const NOTEBOOK_PATH = ['gyoshu', 'goal_contract'] as const

export type ReadContract =
  | { readonly ok: true; readonly contract: GoalContract }
  | {
      readonly ok: false
      readonly errors: readonly ContractError[]
      /** As far as they could be read. */
      readonly criteria: readonly ReadCriterion[]
    }

/**
 * Reads a goal contract from YAML text or from a value, hostile or not: the contract itself, or a document that has it
 * under `goal_contract`, or a front matter that has it under `gyoshu`. All errors are found together; what is wrong in any way is never a contract. Targets that are
 * run inputs become those of `inputs`; of a document also their defaults.
 */
export function readGoalContract(given: unknown, inputs: Readonly<Record<string, Json>> = {}): ReadContract {
  const read = readSource(given)
  const { base, value } = contractIn(read.source.value)
  const bound = bindContract(value, { ...defaultsOf(read.source.value), ...inputs }, base)
  const problems = allProblems(read, bound, base)
  if (problems.length === 0) return { ok: true, contract: contractWithDefaults(bound.contract) }
  return refused(problems, read.source, value, base)
}

/** Alone, in a document, or in the front matter of a notebook. */
function contractIn(value: Json | undefined): { readonly base: Path; readonly value: Json | undefined } {
  const own = memberOf(value, 'goal_contract')
  const told = memberOf(memberOf(value, 'gyoshu'), 'goal_contract')
  if (own !== undefined) return { base: ['goal_contract'], value: own }
  if (told !== undefined) return { base: NOTEBOOK_PATH, value: told }
  return { base: [], value }
}

/** Of the run inputs a document declares. */
function defaultsOf(document: Json | undefined): Readonly<Record<string, Json>> {
  const inputs = Object.entries(memberOf(document, 'inputs') ?? {})
  return Object.fromEntries(inputs.map(([name, input]) => [name, memberOf(input, 'default') ?? null]))
}

function readSource(given: unknown): ReadDocument {
  if (typeof given === 'string') return readYaml(given)
  if (typeof given === 'object' && given !== null) return readObject(given)
  // Neither text nor mapping: contractProblems() says so.
  return { ok: true, source: { value: given as Json, spot: { at: 0 } } }
}

/** What reading found comes first; of what has no JSON value (.nan) nothing else is said. */
function allProblems(read: ReadDocument, bound: BoundContract, base: Path): readonly Problem[] {
  const found = [...bound.problems, ...contractProblems(bound.contract, base)]
  if (read.ok) return found
  if (read.source.value === undefined) return read.problems
  const said = new Set(read.problems.map(({ path }) => pathText(path)))
  return [...read.problems, ...found.filter(({ path }) => !said.has(pathText(path)))]
}

function refused(
  problems: readonly Problem[],
  source: Partial<Source>,
  value: Json | undefined,
  base: Path,
): ReadContract {
  const place = source.text === undefined ? undefined : lineFinder(source.text)
  const criteria = criteriaOf(value)
  const found = problems.map((problem) => {
    const inner = problem.path.slice(base.length)
    const index = inner[0] === 'acceptance_criteria' && typeof inner[1] === 'number' ? inner[1] : undefined
    const at = problem.at ?? locate(source.spot ?? { at: 0 }, problem.path, problem.on ?? 'value')
    const { text, hint } = problem.say(subjectOf(inner, criteria, index))
    const message = `Cannot use the goal contract: ${text}.${hint === undefined ? '' : ` ${hint}`}`
    return { index, text, at, error: { code: problem.code, path: pathText(problem.path), ...place?.(at), message } }
  })
  const said = found.toSorted((a, b) => a.at - b.at)
  const whole = said.find(({ index }) => index === undefined)
  return {
    ok: false,
    errors: said.map(({ error }) => error),
    criteria: criteria.map((criterion, index) => ({
      value: criterion,
      problem: (said.find((one) => one.index === index) ?? whole)?.text,
    })),
  }
}

function subjectOf(path: Path, criteria: readonly Json[], index: number | undefined) {
  const id = index === undefined ? undefined : memberOf(criteria[index], 'id')
  const named = typeof id === 'string' && id.trim() !== '' ? `criterion ${quoted(id)}` : `acceptance_criteria[${index}]`
  const who = index === undefined ? 'the goal contract' : named
  const field = pathText(index === undefined ? path : path.slice(2))
  return { who, place: field === '' ? who : `${field} of ${who}` }
}

/** A contract as a run keeps it: deeply frozen, its canonical JSON, and the sha256 of that. */
interface FrozenContract {
  readonly contract: GoalContract
  readonly text: string
  readonly hash: string
}

/**
 * Two spellings of one contract (key order, defaults written out or not, YAML or JSON) have one hash. What starts a run
 * reads it by `readGoalContract(contract, inputs)` first, which binds targets that are run inputs; a document's own is
 * checked by readUnboundContract(), which leaves them unbound.
 */
export function freezeContract(contract: GoalContract): FrozenContract {
  const text = canonicalJson(contract)
  return Object.freeze({ contract: deepFreeze(JSON.parse(text) as GoalContract), text, hash: sha256(text) })
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
