import { everyDayEmulator } from '../../emulators/dynamodb.ts'
import { admitSpending } from './dynamodb-spending.ts'

const { name, start } = everyDayEmulator()
admitSpending(name, start)
