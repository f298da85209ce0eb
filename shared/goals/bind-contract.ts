import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import { contractProblems, contractWithDefaults, criteriaOf, type GoalContract, memberOf } from './goal-contract.ts'

/** A contract whose targets are numbers. What could not be bound is 0, and a problem. */
export interface BoundContract {
  readonly contract: Json | undefined
  readonly problems: readonly Problem[]
}

/**
 * Puts the run's inputs where a criterion says `target: { input: NAME }`, so that one document serves several targets.
 * Done once, when a run starts, before the contract is frozen: whoever starts the run sets the target, nobody moves it
 * later. Problems are at the paths of the document the contract stands in; `base` is its own.
 */
export function bindContract(
  contract: Json | undefined,
  inputs: Readonly<Record<string, Json>>,
  base: Path = [],
): BoundContract {
  const problems: Problem[] = []
  const bound = withTargets(contract, (name, index) => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined
    if (typeof value === 'number') return value
    const path = [...base, 'acceptance_criteria', index, 'target']
    problems.push(
      value === undefined || value === null ? missingTarget(path, name, inputs) : noNumber(path, name, value),
    )
    return 0
  })
  return { contract: bound, problems }
}

/** The contract with another value for each target that is an input; where there is none, the contract itself. */
function withTargets(contract: Json | undefined, targetOf: (input: string, index: number) => Json): Json | undefined {
  const criteria = criteriaOf(contract)
  if (!criteria.some((one) => inputOf(one) !== undefined)) return contract
  const replaced = criteria.map((one, index) => {
    const input = inputOf(one)
    // It has a member `target`: it is a mapping.
    return input === undefined ? one : { ...(one as object), target: targetOf(input, index) }
  })
  // It has a list of criteria: it is a mapping.
  return { ...(contract as object), acceptance_criteria: replaced }
}

/** The run inputs that a contract has targets of. */
export function targetInputs(contract: unknown): readonly string[] {
  return criteriaOf(contract).flatMap((criterion) => inputOf(criterion) ?? [])
}

/** The input a criterion's target is; other mappings are for the criterion's own schema to refuse. */
function inputOf(criterion: Json): string | undefined {
  const target = memberOf(criterion, 'target')
  const input = memberOf(target, 'input')
  return typeof input === 'string' && Object.keys(target as object).length === 1 ? input : undefined
}

function missingTarget(path: Path, name: string, inputs: Readonly<Record<string, Json>>): Problem {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is the run input ${quoted(name)}, which has no value; there are ${listed(Object.keys(inputs))}`,
    hint: `Give the run a number: --input ${name}=0.9, or a default in "inputs".`,
  })
  return { code: 'missing_target', path, say }
}

function noNumber(path: Path, name: string, value: Json): Problem {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is the run input ${quoted(name)}, which must be a number, got ${describeValue(value)}`,
  })
  return { code: 'wrong_type', path, say }
}

/** The run inputs of a document by name, with their types where they are told. */
type Declared = ReadonlyMap<string, string | undefined>

/**
 * Reads the contract of a document, whose targets may be run inputs (`target: { input: NAME }`): those must be declared
 * numbers. The answer has defaults filled in and its inputs unbound; bindContract() binds them when a run starts.
 */
export function readUnboundContract(
  given: Json | undefined,
  base: Path,
  declared: Declared,
): { readonly problems: readonly Problem[]; readonly contract?: GoalContract } {
  const problems: Problem[] = []
  const targets = new Map<number, string>()
  const closed = withTargets(given, (name, index) => {
    targets.set(index, name)
    const path = [...base, 'acceptance_criteria', index, 'target']
    if (!declared.has(name)) problems.push(undeclared(path, name, declared))
    else if (declared.get(name) !== 'number') problems.push(declaredNoNumber(path, name, declared.get(name)))
    return 0
  })
  problems.push(...contractProblems(closed, base))
  if (problems.length > 0) return { problems }
  const contract = contractWithDefaults(closed)
  const acceptance_criteria = contract.acceptance_criteria.map((criterion, index) => {
    const input = targets.get(index)
    return input === undefined ? criterion : { ...criterion, target: { input } }
  })
  return { problems, contract: { ...contract, acceptance_criteria } }
}

function undeclared(path: Path, name: string, declared: Declared): Problem {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is the run input ${quoted(name)}, which is not declared; declared are ${listed(declared.keys())}`,
    hint: didYouMean(suggest(name, declared.keys())) ?? `Declare it: inputs: { ${name}: number }.`,
  })
  return { code: 'unknown_input', path, say }
}

function declaredNoNumber(path: Path, name: string, type: string | undefined): Problem {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is the run input ${quoted(name)}, which is declared as ${type ?? 'nothing'}; a number is needed`,
  })
  return { code: 'type_mismatch', path, say }
}
