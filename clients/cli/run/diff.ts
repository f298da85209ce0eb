import type { Command, CommandOptions } from 'commander'
import type * as z from 'zod'
import { LINEAGE_ROUTES } from '../../../shared/api/lineage-routes.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { count, durationWords } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

export function addDiff(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(
    parent.command('diff', hidden).description('two runs side by side: blocks, outputs, gates, cost, time'),
  )
    .argument('<run-a>')
    .argument('<run-b>')
    .action(async (a: string, b: string, options: TargetOptions) => {
      const params = { path: { run_id: a, other_id: b } }
      const diff = await callApi(
        chooseTarget(session, options.url),
        LINEAGE_ROUTES['diff-runs'].answer.loose(),
        (api) => api.GET('/api/dag/runs/{run_id}/diff/{other_id}', { params }),
      )
      if (options.json === true) session.say(jsonText(diff, 2))
      else for (const line of diffLines(diff)) session.say(line)
    })
}

type RunDiff = z.infer<(typeof LINEAGE_ROUTES)['diff-runs']['answer']>
type Row = readonly string[]

/** Two runs as a person reads them: how each ended, what differs in what they were given, then a table of blocks. */
function diffLines(diff: RunDiff): readonly string[] {
  const { a, b, changed, only_in, context, blocks } = diff
  const given = Object.entries(context).map(([key, how]) => `${key} (${WORDS[how]})`)
  const table = [['block', 'A', 'B', 'outputs', 'gates', 'tokens', 'time'], ...blocks.map(rowOf)]
  return [
    runLine('A', a),
    runLine('B', b),
    ...documentLines(diff),
    ...named('Changed blocks', changed),
    ...named('Only in A', only_in.a),
    ...named('Only in B', only_in.b),
    ...named('Context', given),
    '',
    ...aligned(table),
  ].map((line) => line.trimEnd())
}

const WORDS = { same: 'same', different: 'differs', only_a: 'only in A', only_b: 'only in B' } as const

function runLine(side: string, run: RunDiff['a']): string {
  const facts = [
    `${run.state} in ${timeOf(run.duration_ms)}`,
    count(run.attempts, 'attempt'),
    count(run.tokens, 'token'),
  ]
  return oneLine(`${side} ${run.run_id}  ${run.dag_name}  ${[...facts, ...usdOf(run.usd)].join(', ')}`)
}

function documentLines({ a, b, changed, only_in }: RunDiff): readonly string[] {
  const isSame = changed.length + only_in.a.length + only_in.b.length === 0
  if (!isSame) return []
  return [a.dag_hash === b.dag_hash ? 'The document is the same.' : 'Every block is defined alike in both documents.']
}

function named(title: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [oneLine(`${title}: ${names.join(', ')}`)]
}

type Block = RunDiff['blocks'][number]

function rowOf({ block_id, a, b, outputs, gates }: Block): Row {
  const different = Object.entries(outputs).filter(([, how]) => how !== 'same')
  const gateWords = gates
    .filter((gate) => gate.a !== gate.b)
    .map(({ gate, a: x = '-', b: y = '-' }) => `${gate}: ${x} / ${y}`)
  const kept = Object.keys(outputs).length === 0 ? '-' : 'same'
  return [
    block_id,
    stateOf(a),
    stateOf(b),
    different.length === 0 ? kept : different.map(([port, how]) => `${port} ${WORDS[how]}`).join(', '),
    gates.length === 0 ? '-' : gateWords.join(', ') || 'same',
    pair(a?.tokens.toString(), b?.tokens.toString()),
    pair(a && timeOf(a.duration_ms), b && timeOf(b.duration_ms)),
  ].map(oneLine)
}

function stateOf(side: Block['a']): string {
  if (side === undefined) return '-'
  const { state, attempt, cached_from } = side
  if (cached_from !== undefined) return 'taken over'
  return attempt > 1 ? `${state} (${count(attempt, 'attempt')})` : state
}

function pair(a = '-', b = '-'): string {
  return a === b ? a : `${a} / ${b}`
}

function timeOf(ms: number | null): string {
  return ms === null ? 'no time yet' : durationWords(ms)
}

function usdOf(usd: number | null): readonly string[] {
  return usd === null ? ['price unknown'] : usd === 0 ? [] : [`$${usd.toFixed(4)}`]
}

function aligned(rows: readonly Row[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}
