import type { Load, Round } from './measure.ts'

/** What an engine did in the rounds that count. */
export interface Measured {
  readonly name: string
  readonly rounds: readonly Round[]
}

const HEADER = [
  'shape',
  'clients',
  'engine',
  'runs/s',
  'p50 ms',
  'p95 ms',
  'us a block',
  'CPU us a block',
  'start p50 ms',
  'Sluice / this',
]
const WIDTHS = [10, 7, 9, 18, 7, 7, 10, 14, 12, 18]

export function header(): string {
  return `${line(HEADER)}\n${line(WIDTHS.map((width) => '-'.repeat(width)))}`
}

/** Rows of one load: Sluice first, whose last cell names the best of the others. */
export function rowsOf({ shape, clients }: Load, all: readonly Measured[]): string {
  const ours = all.find(({ name }) => name === 'sluice')
  const others = all.filter((one) => one !== ours)
  const best = others.toSorted((a, b) => middle(rates(b)) - middle(rates(a)))[0]
  const rows = all.map((one) => {
    const latencies = one.rounds.flatMap((round) => round.latencies)
    const last = one === ours ? bestOf(ours, best) : ours === undefined ? '' : ratio(ours, one)
    const figures = [spread(rates(one), rate), ms(quantile(latencies, 0.5)), ms(quantile(latencies, 0.95))]
    const blocks = [1e6 / (middle(rates(one)) * shape.n), cpuMicros(one, shape.n)].map((value) => value.toFixed(0))
    const starts = one.rounds.flatMap((round) => round.starts)
    return [
      `${shape.name} ${shape.n}`,
      String(clients),
      one.name,
      ...figures,
      ...blocks,
      ms(quantile(starts, 0.5)),
      last,
    ]
  })
  return rows.map((cells) => line(cells.map((cell) => cell.replace('NaN', '')))).join('\n')
}

function bestOf(ours: Measured, best: Measured | undefined): string {
  return best === undefined ? '' : `best: ${ratio(ours, best).replace(/ .*/, '')} ${best.name}`
}

/** Round by round, so that a machine that is slow for a while is slow for both. */
function ratio(ours: Measured, other: Measured): string {
  const theirs = rates(other)
  return spread(
    rates(ours).map((rate, round) => rate / (theirs[round] ?? Number.NaN)),
    (value) => `${value.toFixed(2)}x`,
  )
}

function rates({ rounds }: Measured): readonly number[] {
  return rounds.map(({ latencies, seconds }) => latencies.length / seconds)
}

function cpuMicros({ rounds }: Measured, blocks: number): number {
  return middle(rounds.map(({ cpu_ms, latencies }) => ((cpu_ms ?? Number.NaN) * 1_000) / (latencies.length * blocks)))
}

function spread(values: readonly number[], told: (value: number) => string): string {
  return `${told(middle(values))} [${told(Math.min(...values))}..${told(Math.max(...values))}]`.replaceAll(
    /x(?=[.\]])/g,
    '',
  )
}

function rate(value: number): string {
  if (value < 2) return value.toFixed(2)
  return value.toFixed(value < 20 ? 1 : 0)
}

function ms(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0)
}

function middle(values: readonly number[]): number {
  return quantile(values, 0.5)
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0)).join(' | ')} |`
}
