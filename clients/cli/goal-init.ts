import { readYaml } from '../../shared/dag/yaml.ts'
import { memberOf } from '../../shared/goals/contract-problems.ts'
import { CONTRACT_SKELETONS, type SkeletonName } from '../../shared/goals/contract-skeletons.ts'
import { withFigureOf } from '../../shared/goals/figure-of-goal.ts'
import { contractSource, writeContract } from '../../shared/goals/files/contract-file.ts'
import type { GoalContract } from '../../shared/goals/goal-contract.ts'
import { readGoalContract } from '../../shared/goals/read-contract.ts'
import { readContractFile } from './goal-sources.ts'
import { plainText } from './plain-text.ts'
import { Refused, usage } from './refused.ts'
import type { Session } from './session.ts'
import { readWholeFile, writeWholeFile } from './whole-file.ts'

export interface InitOptions {
  readonly type?: SkeletonName
  readonly goalText?: string
  readonly contract?: string
  readonly replace?: true
}

/** Writes a contract, or a skeleton of one, into a document, notebook or Markdown file; nothing else in it changes. */
export function goalInit(session: Session, file: string, options: InitOptions): void {
  const text = readWholeFile(file)
  const contract = contractToWrite(options)
  refuseOthers(file, text, options.replace === true)
  const written = writeContract(file, text, contract)
  if (!written.ok) throw notWritten(file, written.problem)
  writeWholeFile(file, written.text)
  const ids = contract.acceptance_criteria.map(criterionWords).join(', ')
  session.say(plainText(`${file} has a goal contract now: ${ids}. Change its figures to what is wanted.`))
}

/** With its figure, so that nobody takes a skeleton's for the goal's. */
function criterionWords(criterion: GoalContract['acceptance_criteria'][number]): string {
  if (criterion.kind === 'metric_threshold')
    return `${criterion.id} (${criterion.op} ${JSON.stringify(criterion.target)})`
  return criterion.kind === 'finding_count' ? `${criterion.id} (>= ${criterion.minCount ?? 1})` : criterion.id
}

function contractToWrite({ type = 'ml_classification', goalText, contract }: InitOptions): GoalContract {
  const source = contract === undefined ? CONTRACT_SKELETONS[type].yaml : readContractFile(contract)
  const read = readGoalContract(source)
  if (!read.ok) throw usage(`Cannot use "${contract}": it has no goal contract.`)
  if (goalText === undefined) return read.contract
  const named = readGoalContract({ ...read.contract, goal_text: goalText })
  if (named.ok && contract !== undefined) return named.contract
  if (named.ok) {
    const taken = withFigureOf(goalText, type, named.contract)
    if (taken.ok) return taken.contract
    throw usage(
      `Cannot use this --goal-text: ${taken.problem}. Say it with one figure and what it measures ("at least 75 % accuracy", "7 sources"), or without one and change the contract's own.`,
    )
  }
  throw usage(`Cannot use this --goal-text: ${named.errors[0]?.message}`)
}

/** One that is there, right or wrong, is not written over unasked; a file that is a contract has no place for one. */
function refuseOthers(file: string, text: string, replace: boolean): void {
  const source = contractSource(file, text)
  if (!source.ok) throw notWritten(file, source.problem)
  const read = readYaml(source.contract ?? '{}')
  // What cannot be read is refused when it is written to.
  if (!read.ok) return
  const { value } = read.source
  if (memberOf(value, 'acceptance_criteria') !== undefined) throw notWritten(file, 'it is a goal contract itself')
  const there = memberOf(value, 'goal_contract') ?? memberOf(memberOf(value, 'gyoshu'), 'goal_contract')
  if (there === undefined || replace) return
  const detail = `Cannot write to "${file}": it has a goal contract. Say --replace to write over it.`
  throw new Refused({ code: 'goal_contract_there', detail })
}

function notWritten(file: string, problem: string): Refused {
  const detail = `Cannot write to "${file}": ${problem}. Nothing was changed.`
  return new Refused({ code: 'contract_not_written', detail })
}
