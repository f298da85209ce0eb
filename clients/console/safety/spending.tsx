import { labelWords } from '../../../shared/runs/labels.ts'
import { spendingWords } from '../../../shared/views/spending.ts'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { Ago } from '../parts/time-view.tsx'
import { useAnswer } from '../parts/use-answer.ts'

/** What calls of models may use in a day or a month; nothing where there are no such caps. */
export function Spending() {
  const { value, problem, reload } = useAnswer('spending', () => answerOf(api.GET('/api/spending')), 10_000)
  if (problem !== undefined && value === undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined || value.caps.length === 0) return null
  return (
    <div class="scroll">
      <table>
        <caption>
          Spending: what calls of models used of each cap. <code>sluice spending raise</code> lets one allow more until
          it opens again.
        </caption>
        <thead>
          <tr>
            <th scope="col">Cap</th>
            <th scope="col">Counts</th>
            <th scope="col">Used or reserved</th>
            <th scope="col">Opens again</th>
          </tr>
        </thead>
        <tbody>
          {value.caps.map((cap) => (
            <tr key={cap.name}>
              <th scope="row" class="plain">
                {cap.name}
              </th>
              <td>
                {cap.dag === undefined ? 'all documents' : <code>{cap.dag}</code>}
                {cap.labels !== undefined && (
                  <>
                    {' '}
                    with <code>{labelWords(cap.labels)}</code>
                  </>
                )}
                , a {cap.per}
              </td>
              <td class="numbers">
                {shareOf(cap) !== undefined && (
                  <meter
                    min={0}
                    max={1}
                    high={0.8}
                    value={shareOf(cap)}
                    aria-label={`Used of ${cap.name}: ${usedWords(cap)}`}
                  />
                )}{' '}
                {usedWords(cap)}
                {cap.reached && <strong class="tone-bad"> reached: starts are refused</strong>}
                {cap.raises.map(({ by, at, reason }) => (
                  <div key={at} class="soft small">
                    raised by {by}, <Ago at={at} />: {reason}
                  </div>
                ))}
              </td>
              <td>
                <Ago at={cap.opens_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type SpendingCap = operations['get-spending']['responses'][200]['content']['application/json']['caps'][number]

function usedWords(cap: SpendingCap): string {
  return spendingWords(cap) ?? 'shared with other tenants'
}

/** The part that is used, in the unit where it is most; undefined where it is not shown. */
function shareOf({ usd, tokens }: SpendingCap): number | undefined {
  const shares = [usd, tokens].flatMap((one) => (one === undefined ? [] : [one.committed / (one.cap + one.raised)]))
  return shares.length === 0 ? undefined : Math.min(1, Math.max(...shares))
}
