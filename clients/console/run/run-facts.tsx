import type { ComponentChildren } from 'preact'
import { changeLines } from '../../../shared/approvals/run-changes.ts'
import { shownPrice } from '../../../shared/runs/shown-price.ts'
import { bytesWords, usdWords } from '../parts/amount-words.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Ago, Elapsed } from '../parts/moment.tsx'
import { momentWords } from '../parts/time-words.ts'
import type { RunAnswer, RunSession } from '../run-session.ts'

type Run = RunAnswer['run']

/** Times, cost and caps, in a line that wraps. */
export function RunFacts({ session }: { readonly session: RunSession }) {
  const run = session.answer.value?.run
  if (run === undefined) return null
  const isReplay = session.shownSeq.value !== undefined
  const fold = session.fold.value
  const tokens = isReplay ? fold.tokens : run.tokens
  const { usd, unpriced_tokens } = isReplay ? shownPrice(fold) : run
  const until = isReplay ? session.events.value[fold.seq - 1]?.at : run.ended_at
  return (
    <dl class="run-facts numbers">
      <Fact name="Run">
        <code>{run.run_id}</code> <CopyButton text={() => run.run_id} label="run id" />
      </Fact>
      <Fact name="Elapsed">
        {run.started_at === undefined ? 'not started' : <Elapsed from={run.started_at} to={until} />}
      </Fact>
      <Fact name="Tokens">
        {tokens.toLocaleString()}
        <Cap of={tokensCap(run)} />
      </Fact>
      <Fact name="Cost">
        {usdWords(usd, unpriced_tokens)}
        <Cap of={run.budget.cap_usd === undefined ? undefined : usdWords(run.budget.cap_usd)} />
      </Fact>
      {run.storage !== undefined && (
        <Fact name="Stored">
          {bytesWords(run.storage.stored_bytes)}
          <Cap of={bytesWords(run.storage.quota_bytes)} />
        </Fact>
      )}
      <Fact name="Started by">{run.starter}</Fact>
      {run.changes !== undefined && <Fact name="Not a plain start">{changeLines(run.changes).join('; ')}</Fact>}
      <Fact name="Created">
        <Ago at={run.created_at} />
      </Fact>
      {run.started_at !== undefined && run.started_at !== run.created_at && (
        <Fact name="Started">
          <Ago at={run.started_at} />
        </Fact>
      )}
      {run.ended_at === undefined ? (
        <Fact name="Deadline">
          <time dateTime={run.deadline} title={run.deadline}>
            {momentWords(run.deadline)}
          </time>
        </Fact>
      ) : (
        <Fact name="Ended">
          <Ago at={run.ended_at} />
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function tokensCap({ budget: { cap_tokens } }: Run): string | undefined {
  return cap_tokens?.toLocaleString()
}

function Cap({ of }: { readonly of: string | undefined }) {
  return of === undefined ? null : <span class="soft"> of {of}</span>
}
