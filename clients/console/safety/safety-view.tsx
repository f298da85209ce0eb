import { answerOf, api } from '../api.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { Ago } from '../parts/time-view.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { health, safety } from '../place-state.ts'
import { capLabel, capWords } from './cap-words.ts'
import { Spending } from './spending.tsx'
import { TokenTable } from './tokens-table.tsx'

/** What bounds every run of this place: the caps that hold now, and where each comes from. */
export function SafetyView() {
  const answer = safety.value.value
  const problem = safety.problem.value
  return (
    <section class="page stack narrow-page">
      <h1>Safety</h1>
      {problem !== undefined && <ProblemNotice problem={problem} retry={() => void safety.reload()} />}
      {answer === undefined && problem === undefined && <p class="empty">Asking the place for its limits.</p>}
      {answer !== undefined && problem !== undefined && <p class="empty">What follows was so at the last answer.</p>}
      {answer !== undefined && (
        <>
          <StateOfPlace />
          <Caps policy={answer.policy} />
          <Limits limits={answer.limits} />
        </>
      )}
      <Spending />
      <Tokens />
    </section>
  )
}

/** The record of this tenant's tokens. Who has no scope for it is told so here, and sees the rest of the page as ever. */
function Tokens() {
  const { value, problem } = useAnswer('tokens', () => answerOf(api.GET('/api/tokens')))
  if (problem !== undefined) return <p class="empty">Tokens are not shown: {problem.message}</p>
  if (value === undefined || value.tokens.length === 0) return null
  return <TokenTable tokens={value.tokens} />
}

function StateOfPlace() {
  const { active_runs, queued_runs, hold } = safety.value.value ?? {}
  return (
    <dl class="facts card">
      <dt>Place</dt>
      <dd>
        <code>{location.host}</code> {health.value.value !== undefined && `Sluice ${health.value.value.version}`}
      </dd>
      <dt>Active runs</dt>
      <dd class="numbers">{active_runs}</dd>
      <dt>In the queue</dt>
      <dd class="numbers">{queued_runs}</dd>
      <dt>Starts</dt>
      <dd>
        {hold === null || hold === undefined ? (
          'open'
        ) : (
          <>
            on hold by {hold.by}, <Ago at={hold.at} />
          </>
        )}
      </dd>
    </dl>
  )
}

type Safety = NonNullable<typeof safety.value.value>

function Caps({ policy }: Pick<Safety, 'policy'>) {
  return (
    <div class="scroll">
      <table>
        <caption>
          Caps that hold now. A setting in <code>sluice.yaml</code> under <code>safety</code>, or the CDK context of a
          deployment, changes them.
        </caption>
        <thead>
          <tr>
            <th scope="col">Cap</th>
            <th scope="col">Value</th>
            <th scope="col">From</th>
            <th scope="col">Setting</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(policy).map(([name, { value, source }]) => (
            <tr key={name}>
              <th scope="row" class="plain">
                {capLabel(name)}
              </th>
              <td class="numbers">{capWords(name, value)}</td>
              <td>{source === 'default' ? <span class="soft">default</span> : source}</td>
              <td>
                <code>{name}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Limits({ limits }: Pick<Safety, 'limits'>) {
  return (
    <div class="scroll">
      <table>
        <caption>Limits no setting changes</caption>
        <thead>
          <tr>
            <th scope="col">Limit</th>
            <th scope="col">Value</th>
            <th scope="col">Name</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(limits).map(([name, value]) => (
            <tr key={name}>
              <th scope="row" class="plain">
                {capLabel(name)}
              </th>
              <td class="numbers">{capWords(name, value)}</td>
              <td>
                <code>{name}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
