/** What people are told of a document of dags/; the rest of docs/gallery.md is made from documents and runs. */
export interface GalleryEntry {
  readonly name: string
  readonly title: string
  readonly about: string
  /** What it is there to show, a sentence each. */
  readonly shows: readonly string[]
  /** As a person types it in a clone, behind `sluice`. */
  readonly command: string
  /** What must be there before: a command, or nothing. */
  readonly before?: string
  /** The artifact of which the page shows the beginning. */
  readonly artifact?: string
}

export const GALLERY: readonly GalleryEntry[] = [
  {
    name: 'basic',
    title: 'Plan and implement',
    about: 'Two blocks and a wire: the smallest document there is, and the one every other place must be able to run.',
    shows: ['A run input with a default: `goal` may be given, and need not be.', '`from` wires an output to an input.'],
    command: 'run start dags/basic.yaml --input goal="Add dark mode" --yes',
  },
  {
    name: 'coding',
    title: 'A change with plan, patch and review',
    about:
      'Engineering: a person agrees to the plan before anything is built, and the review sends an untested patch back.',
    shows: [
      'Gates whose reasons are told to the next try.',
      'An approval in the middle.',
      'A way back (`on_gate_fail`) from review to build.',
    ],
    command: 'run start dags/coding.yaml --yes',
  },
  {
    name: 'coding-gates',
    title: 'A task from PENDING to DONE',
    about:
      'Project management: the moves of a task stand behind gates of their own, listed in sluice.yaml and not in the document.',
    shows: [
      '`move-task` and the pipeline `coding` ([task-gates.md](task-gates.md)).',
      'Agents found by role, bound at the start.',
      'Edges that are order only.',
    ],
    command: 'run start --example coding-gates --yes',
    artifact: 'change.md',
  },
  {
    name: 'dataset-brief',
    title: 'A brief on the states of the world',
    about:
      'Statistics: figures with confidence intervals out of a public data set, words out of figures, nothing without its licence.',
    shows: [
      'A parallel part of 13 blocks.',
      'A gate that refuses the first draft; the second one was told why.',
      'An input file that is an object ref on AWS.',
    ],
    command: 'run start --example dataset-brief --yes',
    before: 'npm run demo',
    artifact: 'dataset-brief.md',
  },
  {
    name: 'country-brief',
    title: 'A brief on one country, out of a knowledge graph',
    about:
      'Research: two questions to the graph, and a draft that is held against the stored texts again before a person sees it.',
    shows: ['`mode: research` blocks ([research.md](research.md)).', 'Quotations, citations and numbers as gates.'],
    command: 'run start --example country-brief --yes',
    before: 'npm run demo:research',
    artifact: 'country-brief.md',
  },
  {
    name: 'churn-analysis',
    title: 'Which customers leave?',
    about:
      'Machine learning: a model that is cross-validated, claims that are verified, and a goal that decides whether the run succeeded.',
    shows: [
      'A goal contract whose target is a run input.',
      'Trust from `verify-claims`.',
      'Attempts that pivot by themselves: with `--input target=0.9` the run ends PARTIAL twice and BLOCKED at last.',
    ],
    command: 'run start dags/churn-analysis.yaml --yes',
  },
  {
    name: 'incident-postmortem',
    title: 'A postmortem out of a log',
    about:
      'Operations: the log of a real outage is cut into windows, measured, and told without a number that is not in it.',
    shows: [
      '`foreach` over windows with gates for each item.',
      '`when`: where nothing failed, nobody is asked.',
      'A rejection makes another run (`on_reject: iterate`).',
    ],
    command: 'run start dags/incident-postmortem.yaml --yes',
    artifact: 'postmortem.md',
  },
  {
    name: 'release-notes',
    title: 'Notes of a release, sent back once',
    about: 'Communication: 77 commits become notes; an editor refuses them until they say what operators ask for.',
    shows: [
      'A bounce whose feedback makes the second draft better.',
      'A `transform` on an edge, a kept result (`cache`), a token budget.',
      'An approval that may edit what it approves.',
    ],
    command: 'run start dags/release-notes.yaml --yes',
    artifact: 'release-notes.md',
  },
  {
    name: 'licence-review',
    title: 'What the licences of our data ask for',
    about:
      'Law: each note is read by itself, obligations are quoted word for word, and only share-alike goes before a person.',
    shows: [
      '`quote_verbatim` against the item that was read.',
      '`mode: approval` behind a condition.',
      '`depends` with a skipped block.',
    ],
    command: 'run start dags/licence-review.yaml --yes',
    artifact: 'licence-review.md',
  },
  {
    name: 'dependency-review',
    title: 'May these packages go into the product?',
    about: 'Security: three reviewers at once, weighed against each other; a list with findings needs two people.',
    shows: [
      'Weighted gates: one reviewer cannot be outvoted.',
      'A quorum of two, asked only where there is something to decide.',
    ],
    command: 'run start dags/dependency-review.yaml',
    artifact: 'dependency-review.md',
  },
  {
    name: 'ticket-triage',
    title: "A morning's support tickets",
    about:
      'Support: tickets are sorted, the most urgent one is answered by a child run, the reply leaves after a person read it.',
    shows: [
      'A child run (`mode: dag`) behind a condition.',
      'A gate that only warns of personal data.',
      'Queues are filled also where the reply failed.',
    ],
    command: 'run start dags/ticket-triage.yaml --yes',
    artifact: 'queues.md',
  },
  {
    name: 'ticket-reply',
    title: 'One reply out of the handbook',
    about:
      'Support: the sections that fit are found, and only sentences that stand in them are said. It is the child of the document above.',
    shows: [
      'Instructions hidden in a ticket are refused before anything is dispatched.',
      'Grounding gates around a deterministic and an ai block.',
    ],
    command: 'run start dags/ticket-reply.yaml --yes',
  },
  {
    name: 'ticket-table',
    title: 'A spreadsheet of tickets, judged row by row',
    about:
      'Support: a CSV with line breaks in its cells is read, every row gets a verdict, and a CSV with exactly as many rows leaves.',
    shows: [
      '`read-table` with types of columns, and `write-table` ([dag.md](dag.md#tables)).',
      '`foreach` over rows with deterministic work.',
      'A gate that counts what left against what came.',
    ],
    command: 'run start dags/ticket-table.yaml --yes',
    artifact: 'tickets.csv',
  },
  {
    name: 'support-agent',
    title: 'A ticket, solved by an agent',
    about:
      'Customer support: an agent looks up who writes, wants to pay back too much, is refused by a gate, asks for less, waits for a person, asks them a question, and leaves a letter. What it says is a script in the document, and no model.',
    shows: [
      '`agent.tools`: tools of ours, another document as a tool, `ask_person` ([agents.md](agents.md)).',
      'A gate and an approval with `when` on a call, whose amount a person may change.',
      'How a document with an agent is tried without a model: `model: script` of provider `local`.',
    ],
    command: 'run start dags/support-agent.yaml --yes',
    artifact: 'letter.txt',
  },
  {
    name: 'refund',
    title: 'A refund and its receipt',
    about:
      'Accounts: an amount is held against its order, and a receipt is kept. The agent of `support-agent` calls it.',
    shows: [
      'A document that is a tool of an agent: what it declares as inputs is what the model may say.',
      'A gate that refuses more than was paid, whoever asks.',
    ],
    command: 'run start dags/refund.yaml',
    artifact: 'receipt.txt',
  },
  {
    name: 'order-follow-up',
    title: 'An order, until it may leave',
    about:
      'Trade: it waits for its payment, then lets the time pass in which it can be cancelled; whoever does not pay in time is reminded.',
    shows: [
      '`mode: wait` for an event with a key and a `match`, with a time-out that is no failure, and for a time ([dag.md](dag.md#wait)).',
      'An event that a block sends, and that `sluice event send` or EventBridge might as well.',
      'Branches by what came.',
    ],
    command: 'run start dags/order-follow-up.yaml',
    artifact: 'packing-slip.txt',
  },
  {
    name: 'name-translations',
    title: 'Is every country name translated, and only once?',
    about:
      'Localisation: five languages at once; those in which two countries share a name are held back, the others are released.',
    shows: [
      '`foreach` with `tolerate`: defects of one language do not stop the others.',
      'Real mistakes of a real data set, found by a gate.',
    ],
    command: 'run start dags/name-translations.yaml --yes',
    artifact: 'name-translations.md',
  },
  {
    name: 'city-quality',
    title: 'Are these places fit for a map?',
    about:
      'Data quality: rules run at once over 454 places, the share of sound rows is measured with its interval and held against a target.',
    shows: [
      'A goal contract over measured values; `--input target=99` ends PARTIAL.',
      'Markers as evidence, with the report they rest on named by its hash.',
    ],
    command: 'run start dags/city-quality.yaml --yes',
    artifact: 'reports/city-quality.md',
  },
]
