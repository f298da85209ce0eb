import { StateMark } from '../parts/state-mark.tsx'
import type { GoalAnswer } from './goal-answer.ts'
import { actionWords, goalMatrix, type MatrixCell, TRUSTS } from './goal-matrix.ts'

/** The table that decides, whole: which row decided this run is said by sign and words. */
export function GoalMatrix({ goal: { row, final_status } }: { readonly goal: GoalAnswer }) {
  return (
    <section class="card">
      <h3>How the two gates decide</h3>
      <div class="scroll">
        <table class="goal-matrix">
          <caption>
            {row === null ? 'No row applies yet: the run is not judged.' : `This run: ${row}.`} A worse status that the
            run's own blocks claimed stays as it is.
          </caption>
          <thead>
            <tr>
              <th scope="col">Goal gate</th>
              {TRUSTS.map((trust) => (
                <th key={trust} scope="col">
                  Trust gate {trust === 'PASS' ? 'passes' : 'fails'}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {goalMatrix(row).map(({ goal, cells }) => (
              <tr key={goal}>
                <th scope="row">{GOAL_WORDS[goal] ?? goal}</th>
                {cells.map((cell) => (
                  <Cell key={cell.trust} cell={cell} final={final_status} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const GOAL_WORDS: Readonly<Record<string, string>> = {
  MET: 'met',
  NOT_MET: 'not met',
  BLOCKED: 'blocked',
  NO_CONTRACT: 'no contract',
}

function Cell({ cell, final }: { readonly cell: MatrixCell; readonly final: GoalAnswer['final_status'] }) {
  const { applies, action, without_quality } = cell
  return (
    <td data-applies={applies}>
      <StateMark state={cell.final} isQuiet={!applies} /> <span>{actionWords(action)}</span>
      {without_quality !== undefined && (
        <p class="soft small">
          Quality gate failed: {without_quality.final.toLowerCase()}, {actionWords(without_quality.action)}
        </p>
      )}
      {applies && (
        <p class="goal-applies">
          <strong>◀ this run</strong>
          {final !== null && final !== cell.final && ` ended ${final.toLowerCase()}`}
        </p>
      )}
    </td>
  )
}
