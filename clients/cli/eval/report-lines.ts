import type { Report } from '../../../shared/evals/report.ts'
import { count, durationWords, usdWords } from '../terminal/format.ts'
import { displayWidth, oneLine } from '../terminal/text.ts'

/** Items that got better or worse, told one by one up to so many. */
const MOST_CHANGES = 40

type Row = readonly string[]

/** A report as a person reads it. Intervals are at 95 % (docs/eval.md). */
export function reportLines(report: Report, file: string): readonly string[] {
  const { eval: name, round, items, planned, done, variants } = report
  const head = `${name}, round ${round}: ${count(items, 'item')} x ${count(variants.length, 'variant')}, ${done} of ${count(planned, 'run')}`
  return [
    head,
    '',
    ...aligned(variantTable(report)),
    ...report.comparisons.flatMap((one) => ['', ...comparisonLines(`${one.b} against ${one.a}`, one)]),
    ...lastLines(report),
    ...thresholdLines(report),
    '',
    ...(report.complete ? [] : [`Not complete: ${planned - done} of ${count(planned, 'run')} have no result.`]),
    `Side by side, with the words of judges: open ${file} under Evaluations in the console.`,
  ].map((line) => line.trimEnd())
}

function variantTable({ variants }: Report): readonly Row[] {
  const whats = [...new Set(variants.flatMap(({ rates }) => rates.map(({ what }) => what)))]
  const rates = whats.map((what) => [
    what,
    ...variants.map((variant) => {
      const rate = variant.rates.find((one) => one.what === what)
      if (rate === undefined) return '-'
      const once = rate.at_once === undefined || rate.at_once === rate.rate ? '' : `, at once ${percent(rate.at_once)}`
      return `${percent(rate.rate)} (${percent(rate.low)} to ${percent(rate.high)}) of ${rate.of}${once}`
    }),
  ])
  const measures = (['usd', 'tokens', 'latency_ms'] as const).map((name) => [
    `${WORDS[name]}, mean`,
    ...variants.map(({ measures }) => {
      const seen = measures[name]
      if (seen === undefined) return 'not known'
      return `${figure(name, seen.mean)} (${figure(name, seen.low)} to ${figure(name, seen.high)})`
    }),
  ])
  const slow = [
    'time, median / 95 %',
    ...variants.map(({ measures: { latency_ms: seen } }) =>
      seen === undefined ? '-' : `${durationWords(seen.median)} / ${durationWords(seen.p95)}`,
    ),
  ]
  const sums = [
    'in all',
    ...variants.map(({ usd, tokens, unpriced_tokens }) => {
      const unpriced = unpriced_tokens === 0 ? '' : `, ${unpriced_tokens} of them of unknown price`
      return `${usdWords(usd)}, ${tokens} tokens${unpriced}`
    }),
  ]
  return [['', ...variants.map(({ variant }) => variant)], ...rates, ...measures, slow, sums]
}

const WORDS = { usd: 'cost', tokens: 'tokens', latency_ms: 'time' } as const

function figure(name: keyof typeof WORDS, value: number): string {
  const sign = value < 0 ? '-' : ''
  const size = Math.abs(value)
  if (name === 'usd') return `${sign}${usdWords(size)}`
  return `${sign}${name === 'tokens' ? String(Math.round(size)) : durationWords(size)}`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1).replace(/\.0$/, '')} %`
}

function points(share: number): string {
  return `${share > 0 ? '+' : ''}${(share * 100).toFixed(1).replace(/\.0$/, '')}`
}

type Comparison = Pick<Report['comparisons'][number], 'rates' | 'measures'>

function comparisonLines(title: string, { rates, measures }: Comparison): readonly string[] {
  const differing = rates.filter(({ better, worse }) => better + worse > 0)
  const table: readonly Row[] = [
    [title, 'difference', '95 %', 'better', 'worse', 'p', 'p (Holm)'],
    ...differing.map(({ what, difference, low, high, better, worse, p, p_holm }) => [
      what,
      `${points(difference)} points`,
      `${points(low)} to ${points(high)}`,
      String(better),
      String(worse),
      p.toPrecision(2),
      p_holm.toPrecision(2),
    ]),
    ...measures
      .filter(({ difference, low, high }) => difference !== 0 || low !== high)
      .map(({ what, difference, low, high }) => [
        WORDS[what],
        `${difference > 0 ? '+' : ''}${figure(what, difference)}`,
        `${figure(what, low)} to ${figure(what, high)}`,
      ]),
  ]
  const same = rates.length - differing.length
  return [
    ...aligned(table),
    ...(same === 0 ? [] : [`${count(same, 'share')} ${same === 1 ? 'is' : 'are'} the same, item by item.`]),
  ]
}

function lastLines({ last }: Report): readonly string[] {
  if (last === undefined) return ['', 'There is no complete round before this one to compare with.']
  return last.variants.flatMap((one) => {
    const left = one.left_out === 0 ? '' : `; ${one.left_out} are new, gone or others now and left out`
    const shown = one.changes.slice(0, MOST_CHANGES).map(({ item, what, change, words }) => {
      const [before = '', now = ''] = one.runs[item] ?? []
      const said = words === '' ? '' : `: ${words}`
      return `${change} ${oneLine(`${item} ${what}${said} (${before} -> ${now})`)}`
    })
    const rest = one.changes.length - shown.length
    return [
      '',
      ...comparisonLines(`${one.variant} against round ${last.round}`, one),
      `${count(one.items, 'item')} of both rounds${left}.`,
      ...shown.map((line) => `  ${line}`),
      ...(rest > 0 ? [`  and ${rest} more (--json has all)`] : []),
    ]
  })
}

function thresholdLines({ thresholds }: Report): readonly string[] {
  if (thresholds.length === 0) return []
  return ['', ...thresholds.map(({ held, words }) => `${held ? 'ok    ' : 'FAILED'} ${oneLine(words)}`)]
}

function aligned(rows: readonly Row[]): readonly string[] {
  const columns = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...rows.map((row) => displayWidth(oneLine(row[at] ?? '')))),
  )
  return rows.map((row) =>
    row.map((cell, at) => `${oneLine(cell)}${' '.repeat((widths[at] ?? 0) - displayWidth(oneLine(cell)))}`).join('  '),
  )
}
