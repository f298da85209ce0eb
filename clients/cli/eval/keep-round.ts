import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Round, type RoundHead, type RoundLine, readRound } from '../../../shared/evals/round-file.ts'
import { readFile } from '../terminal/files.ts'
import { Refused } from '../terminal/refused.ts'
import type { EvalFile } from './plan-round.ts'

/** Where rounds of an evaluation are kept: beside its file, in the project. */
function roundsFolder({ path, name }: Pick<EvalFile, 'path' | 'name'>): string {
  return join(dirname(path), 'results', name)
}

export interface KeptRound extends Round {
  readonly file: string
}

/** Every round there is, oldest first; files that are none are passed over. */
export function keptRounds(file: Pick<EvalFile, 'path' | 'name'>): readonly KeptRound[] {
  const folder = roundsFolder(file)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .flatMap((name) => {
      const path = join(folder, name)
      const round = readRound(readFile(path, 'round'))
      return round === undefined ? [] : [{ ...round, file: path }]
    })
}

/** A round by its name, or the beginning of it, or its file. */
export function findRound(file: Pick<EvalFile, 'path' | 'name'>, given: string): KeptRound {
  const rounds = keptRounds(file)
  const found = rounds.filter((round) => round.head.round.startsWith(given) || round.file === given)
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const known = rounds.map(({ head }) => head.round).join(', ') || 'none'
  const why = found.length > 1 ? `${found.length} rounds begin so` : 'there is no such round'
  throw new Refused(
    { code: 'unknown_round', detail: `Cannot find round "${given}" of ${file.name}: ${why}. There are: ${known}.` },
    { exitCode: 2 },
  )
}

/** The newest complete round before another one. */
export function roundBefore(rounds: readonly KeptRound[], round: string): KeptRound | undefined {
  return rounds.findLast(({ head, end }) => head.round < round && end?.why === 'complete')
}

/** Writes a line, whole, behind whatever a dead process left. */
export function appendLine(file: string, line: RoundLine): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

/** What a kill left of a line is ended, so that the next one begins a line. */
export function endHalfLine(file: string): void {
  if (!readFile(file, 'round').endsWith('\n')) appendFileSync(file, '\n')
}

/** Begins the file of a new round; its name sorts by time. */
export function beginRound(file: EvalFile, head: RoundHead): string {
  const path = join(roundsFolder(file), `${head.round}.ndjson`)
  mkdirSync(dirname(path), { recursive: true })
  appendLine(path, head)
  return path
}
