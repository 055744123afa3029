'use strict';
// Jobs through BullMQ on the benchmark's Redis; prints how many a second, as JSON.
//
//   node bullmq.js PORT ALONE BATCHED PROCESSED DATA    how many jobs of each kind, and what is in them
const {Queue, Worker} = require('bullmq');

const kBatch = 100;
const kConcurrencies = [1, 10, 100];

async function perSecond(count, work) {
  const begin = process.hrtime.bigint();
  await work();
  return count / (Number(process.hrtime.bigint() - begin) / 1e9);
}

async function addInBatches(queue, count, data) {
  for (let first = 0; first < count; first += kBatch) {
    const jobs = [];
    for (let i = first; i < Math.min(first + kBatch, count); ++i) jobs.push({name: 'REPORT', data});
    await queue.addBulk(jobs);
  }
}

async function processAll(queue, connection, count, concurrency) {
  const worker = new Worker(queue.name, async () => 'ok', {connection, concurrency, autorun: false});
  await worker.waitUntilReady();
  const rate = await perSecond(count, () => new Promise((resolve, reject) => {
    let done = 0;
    worker.on('completed', () => { if (++done === count) resolve(); });
    worker.on('failed', (job, error) => reject(error));
    worker.on('error', reject);
    worker.run().catch(reject);
  }));
  await worker.close();
  return rate;
}

async function main() {
  const [port, alone, batched, processed] = process.argv.slice(2, 6).map(Number);
  const data = JSON.parse(process.argv[6]);
  const connection = {host: '127.0.0.1', port};
  const result = {processed: {}};
  const one = new Queue('alone', {connection});
  await one.waitUntilReady();
  result.alone = await perSecond(alone, async () => {
    for (let i = 0; i < alone; ++i) await one.add('REPORT', data);
  });
  await one.close();
  const many = new Queue('batched', {connection});
  await many.waitUntilReady();
  result.batched = await perSecond(batched, () => addInBatches(many, batched, data));
  await many.close();
  for (const concurrency of kConcurrencies) {
    // One at a time is slow enough.
    const count = Math.max(Math.floor(concurrency === 1 ? processed / 20 : processed), 10);
    const queue = new Queue('processed-' + concurrency, {connection});
    await addInBatches(queue, count, data);
    result.processed[concurrency] = await processAll(queue, connection, count, concurrency);
    await queue.close();
  }
  console.log(JSON.stringify(result));
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
