import type { ComponentChildren } from 'preact'
import type { Block } from '../../../shared/dag/dag.ts'
import { tokensWords, usdWords } from '../parts/amount-words.ts'
import { Elapsed } from '../parts/moment.tsx'
import { momentWords } from '../parts/time-words.ts'
import { hrefOf } from '../route.ts'
import type { RunSession } from '../run-session.ts'
import { backWords } from './back-words.ts'
import { momentOf } from './graph-scene.ts'
import type { Inspected } from './inspector-block.ts'

interface FactsProps {
  readonly inspected: Inspected
  readonly session: RunSession
}

/** Work, tries, times and cost of all its attempts. */
export function InspectorFacts({ inspected, session }: FactsProps) {
  const { definition, fold } = inspected
  const tokens = fold === undefined ? 0 : fold.tokens_in + fold.tokens_out
  const usd = fold?.usd_micros === undefined ? null : fold.usd_micros / 1_000_000
  return (
    <dl class="facts numbers">
      <Fact name="Work">{workWords(definition)}</Fact>
      <Fact name="Tries">{triesWords(inspected)}</Fact>
      {fold?.started_at !== undefined && (
        <>
          <Fact name="Took">
            <Elapsed from={fold.started_at} to={fold.ended_at ?? momentOf(session).value} />
          </Fact>
          <Fact name="Started">
            <Moment at={fold.started_at} />
          </Fact>
        </>
      )}
      {fold?.ended_at !== undefined && (
        <Fact name="Ended">
          <Moment at={fold.ended_at} />
        </Fact>
      )}
      {tokens > 0 && <Fact name="Tokens">{tokensWords(fold?.tokens_in, fold?.tokens_out)}</Fact>}
      {tokens > 0 && <Fact name="Cost">{usdWords(usd, fold?.unpriced_tokens)}</Fact>}
      <RunFact name="Child run" id={fold?.child} />
      <RunFact name="Result of" id={fold?.cached_from} />
      {definition.upstream.length > 0 && <Fact name="Waits for">{definition.upstream.join(', ')}</Fact>}
    </dl>
  )
}

function triesWords({ definition, fold, answer }: Inspected): string {
  const { attempt = 0, untried = 0, epoch = 0 } = fold ?? {}
  const words = [`${attempt - untried} of ${answer?.max_attempts ?? definition.retry.max_attempts}`]
  if (untried > 0) words.push(`attempts that were no try: ${untried}`)
  if (epoch > 0) words.push(backWords(epoch))
  return words.join(', ')
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function RunFact({ name, id }: { readonly name: string; readonly id: string | undefined }) {
  if (id === undefined) return null
  return (
    <Fact name={name}>
      <a href={hrefOf(['runs', id])}>
        <code>{id}</code>
      </a>
    </Fact>
  )
}

function Moment({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {momentWords(at)}
    </time>
  )
}

function workWords(block: Block): string {
  switch (block.mode) {
    case 'ai':
      return `ai: ${block.agent.provider} ${block.agent.model}${block.foreach === undefined ? '' : ', for each item'}`
    case 'deterministic':
      return `deterministic: ${block.handler}`
    case 'dag':
      return `runs ${block.dag.name}`
    case 'research':
      return 'asks the knowledge graph'
    case 'approval':
      return 'a person decides'
  }
}
