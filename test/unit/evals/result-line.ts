import type { ResultLine, RoundHead } from '../../../shared/evals/round-file.ts'

export function resultLine(more: Partial<ResultLine> = {}): ResultLine {
  return {
    type: 'result',
    item: 'i1',
    variant: 'a',
    run_id: 'run_1',
    dag_hash: 'h',
    state: 'completed',
    gates: [],
    expect: [],
    tokens: 0,
    usd: null,
    latency_ms: 10,
    attempts: 1,
    ...more,
  }
}

export const HEAD: RoundHead = {
  type: 'round',
  v: 1,
  eval: 'e',
  round: 'r1',
  at: '2026-01-01T00:00:00Z',
  plan: 'p',
  variants: [{ name: 'a', sha256: 'x' }],
  items: [{ id: 'i1', sha256: 'y' }],
  asserted: [],
}
