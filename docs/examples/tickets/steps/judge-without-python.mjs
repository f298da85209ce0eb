// What judge.py does, for a machine without Python: it reads a JSON object and writes one, as every program may.
import { text } from 'node:stream/consumers'

const { inputs, feedback } = JSON.parse(await text(process.stdin))
const urgentWords = process.env.URGENT_WORDS.split(',')

function priority(ticket) {
  const words = `${ticket.subject} ${ticket.text}`.toLowerCase()
  if (urgentWords.some((word) => words.includes(word))) return 'urgent'
  if (words.includes('?')) return 'low'
  return words.includes('perhaps') && feedback.length === 0 ? 'unsure' : 'normal'
}

const judged = inputs.batch.map((ticket) => ({ id: ticket.id, priority: priority(ticket) }))
const urgent = judged.filter((ticket) => ticket.priority === 'urgent').length
process.stderr.write(`${judged.length} tickets, ${urgent} of them urgent\n`)
process.stdout.write(JSON.stringify({ judged, urgent }))
