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

Made from the registry (\`shared/gates\`); every example is a test. A gate reads ports of its block: pre-gates see inputs,
post-gates see inputs and outputs (outputs win where both have the name). A port that is missing, null or NaN fails; a
check that crashes, runs out of time or cannot run in this place is \`error\`, which is never a pass. A gate on a port
whose type it can never pass (\`contains\` on a number) is an error of the document, before the run. The JSON Schema of
the parameters: \`sluice gates list --json\`. One type: \`sluice gates explain TYPE\`. One check without a server:
\`sluice gates check --ndjson\`.`

const ASKING = `## Asking a person

\`on_fail: ask\` of a pre- or post-gate (not of the gates of single items) stops the attempt instead of failing it, and asks whether the gate may be waived:

\`\`\`yaml
blocks:
  - id: plan
    outputs: { plan: string }
    agent: { provider: local, model: outline }
    post_gates:
      - { name: long-enough, check: { type: min_length, port: plan, min: 2000 }, on_fail: ask }
\`\`\`

- A try is cheaper than a person: where a gate with \`fail\`, \`route\` or \`retry\` failed too, that comes first (in this order). A person is asked when all gates that failed are such gates, and the composition would hold without them.
- Who may decide on the block's dispatch (\`approval.approvers\`, \`self_approval\`) decides on this too; without an approval of its own, the default group, else anyone who may approve. 30 minutes, then it counts as a no. It stands in the inbox, in Slack and in \`run approve\` as every approval does; the yes is \`waive\` and needs a reason ([approvals.md](approvals.md)).
- Waived, post-gates let the outputs out as they are: nothing is done again, and nobody sees them before. Pre-gates let the attempt begin, with the inputs that were shown. A no fails the block with \`ask_rejected\` (nobody in time: \`ask_expired\`), and the gates are the ones rules of \`on_gate_fail\` look at.
- A waived gate is \`waived\`, never passed: its verdict says who, by which way and why, and what had failed. \`get run\`, the report of the block and \`run export\` show it so.
- It is waived for this pass and these values: another try of the block with the same inputs asks nobody again, a pass after a bounce does, and so does a retried run, which takes over no result that only a person let pass.
- While it waits the block holds no place among those that run, and the run's deadline stands still once nothing else goes on.

\`budget: { tokens: 200000, on_exceed: ask }\` of a document does the same where a call would go over the cap of the run: a yes (\`approve\`) raises it by as much as the document gave (more, where the call needs more), and the attempt goes on. Caps of a block, and the operator's, ask nobody; no person raises the run over \`max_run_tokens\` or \`max_run_usd\`. Blocks side by side each ask; items of one list wait for one answer together.

Nine questions an attempt and twenty a block and pass are asked; what comes after fails as it would have without.`
