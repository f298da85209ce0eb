import { expect, test } from 'vitest'
import { describeGates, explainCompositions, explainGate } from '../../../shared/gates/explain.ts'
import { gateFamilies } from '../../../shared/gates/registry.ts'

test('docs/gates.md is what the registry says (vitest -u writes it anew)', async () => {
  const gates = new Map(describeGates().map((gate) => [gate.type, gate]))
  const families = gateFamilies().map(({ family, types }) => {
    const sections = types.flatMap((type) => gates.get(type) ?? []).map(explainGate)
    return [`## ${family}`, ...sections].join('\n\n')
  })
  await expect(`${[HEAD, ASKING, explainCompositions(), ...families].join('\n\n')}\n`).toMatchFileSnapshot(
    '../../../docs/gates.md',
  )
})

const HEAD = `# Gate types

This page is made from the registry (\`shared/gates\`), and every example on it is a test.

A gate reads ports of its block. Pre-gates see the inputs. Post-gates see inputs and outputs; where both have the same
name, the output counts. What a gate can come to:

- A port that is missing, null or NaN fails.
- A check that crashes, runs out of time or cannot run in this place is \`error\`, which is never a pass.
- A gate on a port whose type it can never pass (\`contains\` on a number) is an error of the document, before the run.

\`sluice gates explain TYPE\` explains one type, \`sluice gates list --json\` has the JSON Schema of all parameters, and
\`sluice gates check --ndjson\` runs one check without a server.`

const ASKING = `## Asking a person

With \`on_fail: ask\`, a pre- or post-gate that fails stops the attempt and asks a person whether the gate may be waived, instead of failing the attempt. Gates of single items cannot ask.

\`\`\`yaml
blocks:
  - id: plan
    outputs: { plan: string }
    agent: { provider: local, model: outline }
    post_gates:
      - { name: long-enough, check: { type: min_length, port: plan, min: 2000 }, on_fail: ask }
\`\`\`

- A person is asked when all gates that failed have \`on_fail: ask\` and the composition would hold without them. If a gate with \`fail\`, \`route\` or \`retry\` failed too, that comes first (in this order): a try is cheaper than a person.
- Whoever may decide on the block's dispatch (\`approval.approvers\`, \`self_approval\`) decides on this too. If the block has no approval of its own, that is the default group, else anyone who may approve. A question that nobody answers within 30 minutes counts as a no. The question stands in the inbox, in Slack and in \`run approve\`, as every approval does. The yes is called \`waive\` and needs a reason ([approvals.md](approvals.md)).
- When post-gates are waived, the outputs go out as they are: nothing is done again. When pre-gates are waived, the attempt begins with the inputs that were shown. A no fails the block with \`ask_rejected\` (no answer in time: \`ask_expired\`), and rules of \`on_gate_fail\` look at these gates.
- A waived gate is \`waived\`, never passed. Its verdict says who waived it, by which way and why, and what had failed. \`get run\`, the report of the block and \`run export\` show this.
- It is waived for this pass and these values only. Another try of the block with the same inputs does not ask again; a pass after a bounce does. So does a retried run: it takes over no result that only a person let pass.
- While the block waits it holds no place among those that run. The run's deadline stands still once nothing else goes on.

A document's \`budget: { tokens: 200000, on_exceed: ask }\` does the same where a call would go over the cap of the run. A yes (\`approve\`) raises the cap by as much as the document gave (by more, if the call needs more), and the attempt goes on. Caps of a block, and the operator's caps, ask nobody, and no person can raise a run over \`max_run_tokens\` or \`max_run_usd\`. Blocks that run side by side each ask; items of one list wait for one answer together.

At most nine questions are asked in an attempt, and at most twenty in a block and pass. After that, a gate or a cap fails as it would without \`ask\`.`
