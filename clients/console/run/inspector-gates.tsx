import { StateMark } from '../parts/state-mark.tsx'

interface Verdict {
  readonly gate: string
  readonly status: string
  readonly reason: string
  readonly type?: unknown
  readonly phase?: unknown
  readonly facts?: unknown
}

interface GateListProps {
  readonly gates: readonly Verdict[]
  /** Gates of the document: those that have not judged yet are named too. */
  readonly promised?: readonly { readonly name: string }[]
}

/** Each gate with its verdict and why. */
export function GateList({ gates, promised = [] }: GateListProps) {
  const judged = new Set(gates.map(({ gate }) => gate))
  const open = promised.filter(({ name }) => !judged.has(name))
  return (
    <ul class="gate-list">
      {gates.map((verdict, index) => (
        <li key={`${index} ${verdict.gate}`}>
          <div class="row">
            <StateMark state={verdict.status} />
            <strong>{verdict.gate}</strong>
            <span class="small soft">
              {String(verdict.type ?? '')}
              {verdict.phase === 'pre' ? ', before the work' : ''}
            </span>
          </div>
          <p>{verdict.reason}</p>
          <Facts facts={verdict.facts} />
        </li>
      ))}
      {open.map(({ name }) => (
        <li key={name} class="row">
          <StateMark state="pending" />
          <strong>{name}</strong>
          <span class="small soft">not judged yet</span>
        </li>
      ))}
    </ul>
  )
}

function Facts({ facts }: { readonly facts: unknown }) {
  if (facts === undefined || facts === null || JSON.stringify(facts) === '{}') return null
  return (
    <details>
      <summary class="small">What was measured</summary>
      <pre>{JSON.stringify(facts, null, 2)}</pre>
    </details>
  )
}
