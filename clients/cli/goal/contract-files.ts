import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CONTRACT_SKELETONS, type SkeletonName } from '../../../shared/goals/contract-skeletons.ts'
import { takeStatedFigure } from '../../../shared/goals/figure-in-goal-text.ts'
import { contractSource, writeContract } from '../../../shared/goals/files/contract-file.ts'
import { type GoalContract, memberOf } from '../../../shared/goals/goal-contract.ts'
import { type ContractError, freezeContract, readGoalContract } from '../../../shared/goals/read-contract.ts'
import { readYaml } from '../../../shared/text/yaml.ts'
import { readFile } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { readContractFile } from './sources.ts'

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
  if (!read.ok) throw usageError(`Cannot use "${contract}": it has no goal contract.`)
  if (goalText === undefined) return read.contract
  const named = readGoalContract({ ...read.contract, goal_text: goalText })
  if (named.ok && contract !== undefined) return named.contract
  if (named.ok) {
    const taken = takeStatedFigure(goalText, type, named.contract)
    if (taken.ok) return taken.contract
    throw usageError(
      `Cannot use this --goal-text: ${taken.problem}. Say it with one figure and what it measures ("at least 75 % accuracy", "7 sources"), or without one and change the contract's own.`,
    )
  }
  throw usageError(`Cannot use this --goal-text: ${named.errors[0]?.message}`)
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

/** Checks contracts in files; exit code 100 when one has errors. */
export function goalValidate(session: Session, files: readonly string[], json: boolean): void {
  if (files.length === 0) throw usageError('Name the files with goal contracts to check, or say --ndjson.')
  const checked = files.map((file) => ({ file, read: readFrom(file) }))
  const views = checked.map(({ file, read }) =>
    read.ok
      ? { file, valid: true, hash: freezeContract(read.contract).hash, errors: [] }
      : { file, valid: false, errors: read.errors },
  )
  if (json) session.say(jsonText(views, 2))
  else for (const line of checked.flatMap(({ file, read }) => lines(file, read))) session.say(plainText(line))
  process.exitCode = views.every(({ valid }) => valid) ? 0 : 100
}

/** Of a notebook or Markdown file the front matter. */
function readFrom(file: string): ReturnType<typeof readGoalContract> {
  const source = contractSource(file, readFile(file, 'the goal contract'))
  if (source.ok && source.contract !== undefined) return readGoalContract(source.contract)
  const message = `Cannot use the goal contract: ${source.ok ? 'there is none' : source.problem}.`
  return { ok: false, errors: [{ code: 'goal_contract_invalid', path: '', message }], criteria: [] }
}

function lines(file: string, read: ReturnType<typeof readGoalContract>): readonly string[] {
  if (!read.ok) return [`${file} has ${count(read.errors.length, 'error')}:`, ...goalErrorLines(read.errors)]
  const ids = read.contract.acceptance_criteria.map(({ id }) => id).join(', ')
  return [`${file} is valid: ${ids}`]
}

/** `line:column  code  message`, a path where there is no line; what all messages begin with is left out. */
function goalErrorLines(errors: readonly ContractError[]): readonly string[] {
  return errors.map(({ code, path, line, column, message }) => {
    const place = line === undefined ? path || '-' : `${line}:${column ?? 1}`
    return `  ${place}  ${code}  ${message.replace(/^Cannot use the goal contract: /, '')}`
  })
}

/** Text of a file that is going to be written again: no byte of it may be lost, so it must be UTF-8. */
function readWholeFile(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (cause) {
    const seen = cause instanceof TypeError ? 'it is no UTF-8 text' : (cause as Error).message
    throw new Refused({ code: 'unreadable_file', detail: `Cannot read "${path}": ${seen}.` }, { exitCode: 2, cause })
  }
}

/** Whole or not at all: a new file beside it, of the same mode, takes its place, or that of what a link leads to. */
function writeWholeFile(named: string, text: string): void {
  const path = realpathSync(named)
  const next = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`)
  try {
    writeFileSync(next, text, { mode: statSync(path).mode, flag: 'wx', flush: true })
    renameSync(next, path)
  } catch (cause) {
    rmSync(next, { force: true })
    const detail = `Cannot write "${path}": ${(cause as Error).message}. It is as it was.`
    throw new Refused({ code: 'unwritable_file', detail }, { exitCode: 2, cause })
  }
}
