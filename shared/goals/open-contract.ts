import type { Json } from '../canonical.ts'
import type { Problem } from '../dag/report.ts'
import type { Path } from '../dag/source.ts'
import { didYouMean, suggest } from '../dag/suggest.ts'
import { listed, quoted } from '../dag/wording.ts'
import { withTargets } from './bind-contract.ts'
import { contractProblems } from './contract-problems.ts'
import { type GoalContract, withDefaults } from './goal-contract.ts'

/** The run inputs of a document by name, with their types where they are told. */
type Declared = ReadonlyMap<string, string | undefined>

/**
 * Reads the contract of a document, whose targets may be run inputs (`target: { input: NAME }`): those must be declared
 * numbers. The answer has defaults filled in and its inputs unbound; bindContract() binds them when a run starts.
 */
export function readOpenContract(
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
    else if (declared.get(name) !== 'number') problems.push(noNumber(path, name, declared.get(name)))
    return 0
  })
  problems.push(...contractProblems(closed, base))
  if (problems.length > 0) return { problems }
  const contract = withDefaults(closed)
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

function noNumber(path: Path, name: string, type: string | undefined): Problem {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is the run input ${quoted(name)}, which is declared as ${type ?? 'nothing'}; a number is needed`,
  })
  return { code: 'type_mismatch', path, say }
}
