import type { ComponentChildren } from 'preact'
import { usdWords } from '../parts/amount-words.ts'
import { StateMark } from '../parts/state-mark.tsx'
import { durationWords } from '../parts/time-words.ts'
import { hrefOf } from '../route.ts'
import { Sign } from './difference-sign.tsx'
import { changeWords, type RunDiff } from './differences.ts'

/** Both runs as a whole: state, document, cost, time. */
export function RunSides({ diff: { a, b, context } }: { readonly diff: RunDiff }) {
  const keys = Object.entries(context)
  return (
    <div class="scroll">
      <table class="sides">
        <caption class="visually-hidden">The two runs as a whole</caption>
        <thead>
          <tr>
            <td />
            <SideHead run={a} side="A" />
            <SideHead run={b} side="B" />
            <th scope="col">Differs</th>
          </tr>
        </thead>
        <tbody>
          <Row
            name="State"
            a={<StateMark state={a.state} />}
            b={<StateMark state={b.state} />}
            isSame={a.state === b.state}
          />
          <Row name="Reason" a={a.reason ?? 'none'} b={b.reason ?? 'none'} isSame={a.reason === b.reason} />
          <Row name="Document" a={hashOf(a)} b={hashOf(b)} isSame={a.dag_hash === b.dag_hash} />
          <Row name="Blocks" a={a.blocks} b={b.blocks} isSame={a.blocks === b.blocks} />
          <Row name="Attempts" a={a.attempts} b={b.attempts} isSame={a.attempts === b.attempts} />
          <Row
            name="Tokens"
            a={a.tokens.toLocaleString('en')}
            b={b.tokens.toLocaleString('en')}
            isSame={a.tokens === b.tokens}
            change={changeWords(a.tokens, b.tokens)}
          />
          <Row
            name="Cost"
            a={usdWords(a.usd, a.unpriced_tokens)}
            b={usdWords(b.usd, b.unpriced_tokens)}
            isSame={a.usd === b.usd && a.unpriced_tokens === b.unpriced_tokens}
            change={changeWords(wholePrice(a), wholePrice(b))}
          />
          <Row
            name="Duration"
            a={timeOf(a.duration_ms)}
            b={timeOf(b.duration_ms)}
            isSame={a.duration_ms === b.duration_ms}
            change={changeWords(a.duration_ms, b.duration_ms)}
          />
          {keys.map(([key, how]) => (
            <Row
              key={key}
              name={`Context ${key}`}
              a={how === 'only_b' ? 'not there' : 'there'}
              b={how === 'only_a' ? 'not there' : 'there'}
              isSame={false}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

type RunSide = RunDiff['a']

function SideHead({ run, side }: { readonly run: RunSide; readonly side: string }) {
  return (
    <th scope="col">
      {side}:{' '}
      <a href={hrefOf(['runs', run.run_id, 'graph'])}>
        {run.dag_name} <code>{run.run_id.slice(4, 12)}</code>
      </a>
    </th>
  )
}

interface RowProps {
  readonly name: string
  readonly a: ComponentChildren
  readonly b: ComponentChildren
  readonly isSame: boolean
  readonly change?: string | undefined
}

function Row({ name, a, b, isSame, change }: RowProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="numbers">{a}</td>
      <td class="numbers">{b}</td>
      <td>
        <Sign isSame={isSame} words={isSame ? undefined : change} />
      </td>
    </tr>
  )
}

function hashOf({ dag_hash }: RunSide) {
  return <code title={dag_hash}>{dag_hash.slice(0, 12)}</code>
}

/** Of a price that is known in parts nobody can say how much it changed. */
function wholePrice({ usd, unpriced_tokens }: RunSide): number | null {
  return unpriced_tokens === undefined ? usd : null
}

function timeOf(ms: number | null): string {
  return ms === null ? 'not ended' : durationWords(ms)
}
