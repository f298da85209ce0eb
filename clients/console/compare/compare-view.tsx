import { answerOf, api } from '../api.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { useKeys } from '../place/keys.ts'
import { hrefOf, route } from '../route.ts'
import { useAnswer } from '../use-answer.ts'
import { BlockDifferences } from './block-differences.tsx'
import { RunPicker } from './run-picker.tsx'
import { RunSides } from './run-sides.tsx'
import './compare.css'

/** Two runs side by side; runs to choose from, where the address names fewer. */
export function CompareView() {
  const [, a, b] = route.value.parts
  return (
    <section class="page stack">
      <h1>Compare two runs</h1>
      {a !== undefined && b !== undefined ? <Comparison key={`${a} ${b}`} a={a} b={b} /> : <RunPicker a={a} />}
    </section>
  )
}

function Comparison({ a, b }: { readonly a: string; readonly b: string }) {
  const { value, problem, reload } = useAnswer(`diff ${a} ${b}`, () => askDiff(a, b))
  const swapped = hrefOf(['compare', b, a])
  useKeys({
    key: 's',
    label: 'Swap the sides',
    run: () => {
      location.hash = swapped
    },
  })
  return (
    <>
      <div class="row">
        <a class="button" href={swapped}>
          ⇄ Swap sides
        </a>
        <a class="button" href={hrefOf(['compare', a])}>
          Another run on the right
        </a>
        <a class="button" href={hrefOf(['compare'])}>
          Choose two others
        </a>
      </div>
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {value === undefined && problem === undefined && <p class="empty">Comparing.</p>}
      {value !== undefined && (
        <>
          <RunSides diff={value} />
          <BlockDifferences diff={value} />
        </>
      )}
    </>
  )
}

function askDiff(run_id: string, other_id: string) {
  const params = { path: { run_id, other_id } }
  return answerOf(api.GET('/api/dag/runs/{run_id}/diff/{other_id}', { params }))
}
