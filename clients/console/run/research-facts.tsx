import { usdWords } from '../parts/amount-words.ts'
import { durationWords, momentWords } from '../parts/time-words.ts'
import { hrefOf, route } from '../route.ts'
import type { ResearchAnswer } from './research-tab.tsx'

/** What the chain was allowed and what it used, and where it came from and goes on. */
export function ResearchFacts({ answer }: { readonly answer: ResearchAnswer }) {
  const { run_id, intent, result, tokens, usd, unpriced_tokens, parent_loop, started_at, ended_at } = answer
  const hints = Object.entries(intent.hints ?? {})
  const facts: readonly (readonly [string, string])[] = [
    ['Tokens', `${tokens.toLocaleString('en')} of ${intent.budget_tokens.toLocaleString('en')} allowed`],
    ['Cost', usdWords(usd, unpriced_tokens)],
    ['Refine rounds', `${result?.iterations ?? 0} of ${intent.max_iterations} allowed`],
    ...(intent.keep_unsupported === true ? [['Unsupported sentences', 'kept, marked'] as const] : []),
    ['Retighten rounds', String(result?.decomp_trace?.retighten_rounds ?? 0)],
    ...(started_at === undefined ? [] : [['Started', momentWords(started_at)] as const]),
    ...(started_at === undefined || ended_at === undefined
      ? []
      : [['Took', durationWords(Date.parse(ended_at) - Date.parse(started_at))] as const]),
    ...(hints.length === 0 ? [] : [['Hints', hints.map(([key, value]) => `${key} = ${value}`).join(', ')] as const]),
  ]
  return (
    <section class="card" aria-label="Budget and origin">
      <dl class="research-facts">
        {facts.map(([title, words]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd class="numbers">{words}</dd>
          </div>
        ))}
        {route.value.parts[1] !== run_id && (
          <div>
            <dt>Run</dt>
            <dd>
              <a href={hrefOf(['runs', run_id, 'research'])}>
                <code>{run_id}</code>
              </a>
            </dd>
          </div>
        )}
        {parent_loop !== undefined && (
          <div>
            <dt>Asked by</dt>
            <dd>
              <ParentLoop text={parent_loop} />
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}

/** `<run>.<block>` of a block leads there; any other name of a caller is only a name. */
function ParentLoop({ text }: { readonly text: string }) {
  const [, run, block] = /^(run_[0-9a-hjkmnp-tv-z]{26})\.(.+)$/.exec(text) ?? []
  if (run === undefined) return <code>{text}</code>
  return (
    <a href={hrefOf(['runs', run, 'graph'], { block })}>
      block {block} of <code>{run}</code>
    </a>
  )
}
