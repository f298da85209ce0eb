import type { RunCost } from '../../shared/plan/run-cost.ts'

/** 1,000 runs by what AWS bills, for `sluice plan --cost`: quantity, dollars, what; docs/cost.md has the formula. */
export function costTable(cost: RunCost): readonly string[] {
  const { lines, orchestration_usd_per_1000_runs: own, work_usd_per_1000_runs: work, region, as_of } = cost
  return [
    `1,000 runs, list prices of ${region}, ${as_of}, free tiers not counted`,
    ...lines.map(({ what, quantity, usd }) => row(usd, `${quantity.toLocaleString('en-US')} ${what}`)),
    row(own, 'all of that'),
    row(work, 'of Lambda while blocks work or wait for a model'),
  ]
}

function row(usd: number, what: string): string {
  return `  ${`$${usd.toFixed(4)}`.padEnd(12)}${what}`
}
